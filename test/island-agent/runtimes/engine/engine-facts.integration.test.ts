import { createHash } from "node:crypto";
import { appendFile, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEngineFacts } from "../../../../island-agent/runtimes/engine/engine-facts.ts";
import { MIB } from "../../../../shared/format-bytes.ts";
import { NEVER } from "../../builders.ts";

let directory: string;
let model: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-facts-"));
  model = join(directory, "model.gguf");
  await writeFile(model, "GGUF");
});
afterEach(() => rm(directory, { recursive: true }));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("the hash of a model file", () => {
  it("is that of its bytes", async () => {
    const facts = await openEngineFacts(directory);
    expect(await facts.hashOf(model, NEVER)).toBe(sha256("GGUF"));
  });

  it("is kept over restarts, and read again after a change", async () => {
    await (await openEngineFacts(directory)).hashOf(model, NEVER);
    const facts = await openEngineFacts(directory);
    expect(await facts.hashOf(model, NEVER)).toBe(sha256("GGUF"));
    await appendFile(model, "!");
    expect(await facts.hashOf(model, NEVER)).toBe(sha256("GGUF!"));
  });

  it("is unknown for a file that changes while it is read", async () => {
    await writeFile(model, Buffer.alloc(64 * MIB));
    const facts = await openEngineFacts(directory);
    const hash = facts.hashOf(model, NEVER);
    await utimes(model, 1, 1);
    expect(await hash).toBeNull();
  });

  it.each(["/dev/zero", "/proc", "/nowhere/model.gguf"])("is unknown for %s, which is no file", async (path) => {
    expect(await (await openEngineFacts(directory)).hashOf(path, NEVER)).toBeNull();
  });

  it("is not read further after an abort", async () => {
    await writeFile(model, Buffer.alloc(64 * MIB));
    const abort = new AbortController();
    const hash = (await openEngineFacts(directory)).hashOf(model, abort.signal);
    const reason = new Error("closed");
    setImmediate(() => abort.abort(reason));
    await expect(hash).rejects.toBe(reason);
  });

  it("is read again if the file of the hashes is damaged", async () => {
    await writeFile(join(directory, "engines.json"), "{");
    expect(await (await openEngineFacts(directory)).hashOf(model, NEVER)).toBe(sha256("GGUF"));
  });
});

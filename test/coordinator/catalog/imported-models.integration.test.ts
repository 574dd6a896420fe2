import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storeModelFile } from "../../../coordinator/catalog/imported-models.ts";
import { sha256 } from "../../island-agent/models/file-server.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-imported-"));
});
afterEach(() => rm(directory, { recursive: true }));

describe("storeModelFile()", () => {
  it("refuses a file that changed after its hash was read, and leaves no copy", async () => {
    const source = join(directory, "source.gguf");
    await writeFile(source, "GGUF after");
    const models = join(directory, "models");
    const known = sha256(Buffer.from("GGUF before"));
    await expect(storeModelFile(source, "tiny", "llmcpp", models, 0, known)).rejects.toThrow(
      "source.gguf changed while it was copied. Repeat the command",
    );
    expect(await readdir(models)).toEqual([]);
    await writeFile(source, "GGUF before");
    const stored = await storeModelFile(source, "tiny", "llmcpp", models, 0, known);
    expect(stored).toMatchObject({ isNew: true, model: { sha256: known } });
  });
});

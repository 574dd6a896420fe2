import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { HostIdError, loadHostId } from "../../../island-agent/hardware/host-id.ts";

describe("loadHostId()", () => {
  let base: string;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), "atoll-host-id-"));
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  it("creates an id once, in a file that only the owner can read", async () => {
    const directory = join(base, "data");
    const id = await loadHostId(directory);
    expect(z.uuid().parse(id)).toBe(id);
    expect(await loadHostId(directory)).toBe(id);
    expect((await stat(join(directory, "host-id"))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(["host-id"]);
  });

  it("returns the same id to concurrent callers", async () => {
    const ids = await Promise.all(Array.from({ length: 64 }, () => loadHostId(base)));
    expect(new Set(ids).size).toBe(1);
    expect(await readdir(base)).toEqual(["host-id"]);
  });

  it.each(["", "not an id\n", "3f1c"])("refuses the damaged file %j, and does not change it", async (text) => {
    const path = join(base, "host-id");
    await writeFile(path, text);
    await expect(loadHostId(base)).rejects.toThrow(new HostIdError(path));
    expect(await readFile(path, "utf8")).toBe(text);
  });
});

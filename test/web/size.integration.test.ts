import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const WEB = join(import.meta.dirname, "..", "..", "web");
/** Maximum size of the first load. All pages together stay below it. */
const MAX_BYTES = 150_000;

it("all console pages together are smaller than the limit of the first load", async () => {
  await promisify(execFile)(process.execPath, [join(WEB, "build.ts")]);
  const names = await readdir(join(WEB, "dist"), { recursive: true });
  const packed = names.filter((name) => name.endsWith(".gz"));
  const sizes = await Promise.all(packed.map(async (name) => (await stat(join(WEB, "dist", name))).size));
  expect(packed.length).toBeGreaterThan(20);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_BYTES);
});

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compileUtility } from "./compile-utility.ts";

/**
 * Builds each program of `catalog/wasm/` into `catalog/models/<slug>.wasm` and pins its hash and size in
 * `catalog/cargos/<slug>.json`, whose `memory.working_mb` becomes the module's memory cap. Run it with `npm run build:wasm`.
 */
const catalog = join(import.meta.dirname, "..", "catalog");

for (const name of await readdir(join(catalog, "wasm"))) {
  const slug = name.endsWith(".ts") ? name.slice(0, -".ts".length) : null;
  if (slug === null) continue;
  const path = join(catalog, "cargos", `${slug}.json`);
  const cargo: { model: object; memory: { working_mb: number } } = JSON.parse(await readFile(path, "utf8"));
  const wasm = await compileUtility(slug, cargo.memory.working_mb);
  const sha256 = createHash("sha256").update(wasm).digest("hex");
  cargo.model = { url: `/models/${slug}.wasm`, sha256, size_bytes: wasm.length };
  await writeFile(join(catalog, "models", `${slug}.wasm`), wasm);
  await writeFile(path, `${JSON.stringify(cargo, null, 2)}\n`);
  process.stdout.write(`${slug}: ${wasm.length} bytes\n`);
}

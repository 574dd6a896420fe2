import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Folder of prebuilt libraries by platform and architecture. */
const ONNX = join("onnxruntime-node", "bin", "napi-v6");
const SQLITE = join("better-sqlite3", "prebuilds");

/** Deletes files for other platforms from a package for one platform. @param folder `node_modules` */
export function pruneForeign(folder: string, platform: string, arch: string): void {
  for (const each of entriesOf(join(folder, ONNX))) {
    if (each !== platform) rmSync(join(folder, ONNX, each), { recursive: true });
  }
  for (const each of entriesOf(join(folder, ONNX, platform))) {
    if (each !== arch) rmSync(join(folder, ONNX, platform, each), { recursive: true });
  }
  for (const each of entriesOf(join(folder, SQLITE))) {
    if (each !== `${platform}-${arch}.node`) rmSync(join(folder, SQLITE, each));
  }
  // Some packages of llama.cpp declare x64, although their libraries do not support it.
  for (const each of entriesOf(join(folder, "@node-llama-cpp"))) {
    const path = join(folder, "@node-llama-cpp", each);
    const { os = [] } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as { os?: string[] };
    if (os.includes(platform) && !each.endsWith(`-${arch}`)) rmSync(path, { recursive: true });
  }
}

const entriesOf = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import asc from "assemblyscript/asc";

const SOURCES = join(import.meta.dirname, "..", "catalog", "wasm");
const PAGES_PER_MB = 16;

/**
 * Compiles `catalog/wasm/<slug>.ts` and its imports. The output is the same on any machine.
 * @param memoryMb maximum size of the module's memory, which is written into the module.
 * @throws {Error} with the compiler's messages.
 */
export async function compileUtility(slug: string, memoryMb: number): Promise<Uint8Array> {
  const built: { wasm?: Uint8Array } = {};
  const messages: string[] = [];
  const { error } = await asc.main(
    [
      ...[`${slug}.ts`, "--outFile", "out.wasm", "--exportStart", "_start", "--use", "abort=lib/fail/abort"],
      // A job is one process, so its memory is freed with it and no garbage collector is needed.
      ...["--runtime", "stub", "--optimizeLevel", "3", "--shrinkLevel", "1"],
      ...["--maximumMemory", String(memoryMb * PAGES_PER_MB), "--noColors"],
    ],
    {
      readFile: (name) => readFile(join(SOURCES, name), "utf8").catch(() => null),
      writeFile: (_name, contents) => {
        if (typeof contents !== "string") built.wasm = contents;
      },
      listFiles: () => [],
      stderr: { write: (message) => void messages.push(String(message)) },
    },
  );
  if (error !== null || built.wasm === undefined) throw new Error(`${slug}: ${messages.join("")}`, { cause: error });
  return built.wasm;
}

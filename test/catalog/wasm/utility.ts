import { readdirSync, readFileSync } from "node:fs";
import { readCargoFile } from "../../../coordinator/catalog/cargo-file.ts";
import { compileWasm, runWasi, type WasiRun, type WasmModule } from "../../support/models/wasi-host.ts";

const CATALOG = new URL("../../../catalog/", import.meta.url);

/** Slugs of the utilities written in AssemblyScript. */
export const UTILITY_SLUGS = readdirSync(new URL("wasm/", CATALOG)).flatMap((name) =>
  name.endsWith(".ts") ? [name.slice(0, -".ts".length)] : [],
);

/** Returns facts of a utility in the catalog. @throws if it pins no hash or no memory. */
export function pinnedCargo(slug: string): {
  example: object;
  outputSchema: object | boolean;
  sha256: string;
  memoryMb: number;
} {
  const read = readCargoFile(readFileSync(new URL(`cargos/${slug}.json`, CATALOG), "utf8"));
  if ("errors" in read || read.file.model?.sha256 == null) throw new Error(`${slug} pins no hash`);
  const { memory } = read.file;
  if (memory === undefined || !("working_mb" in memory)) throw new Error(`${slug} states no memory`);
  return {
    example: read.file.example_input,
    outputSchema: read.file.output_schema ?? false,
    sha256: read.file.model.sha256,
    memoryMb: memory.working_mb,
  };
}

interface Line {
  readonly type: string;
  readonly output?: unknown;
  readonly message?: string;
}

/** A shipped utility, from the committed module. */
export class Utility {
  readonly module: WasmModule;

  constructor(slug: string) {
    this.module = compileWasm(readFileSync(new URL(`models/${slug}.wasm`, CATALOG)));
  }

  /** Runs a job with this line as its input. */
  raw(input: Uint8Array | string): WasiRun & { readonly lines: Line[] } {
    const run = runWasi(this.module, Buffer.from(input));
    const lines = run.stdout
      .split("\n")
      .slice(0, -1)
      .map((line): Line => JSON.parse(line));
    return { ...run, lines };
  }

  /** Returns the output of a job. @throws with the module's message if the job fails. */
  output<T>(input: object): T {
    const { lines, exitCode } = this.raw(`${JSON.stringify(input)}\n`);
    const last = lines.at(-1);
    if (last?.type !== "done" || exitCode !== 0)
      throw new Error(last?.message ?? `exit ${exitCode} without an error line`);
    return last.output as T;
  }

  /** Returns the message of a failing job. */
  error(input: object): string {
    const { lines, exitCode } = this.raw(`${JSON.stringify(input)}\n`);
    const last = lines.at(-1);
    if (last?.type !== "error" || exitCode !== 1) throw new Error(`exit ${exitCode}, ${JSON.stringify(last)}`);
    return last.message ?? "";
  }
}

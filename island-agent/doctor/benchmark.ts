import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MIB } from "../../shared/format-bytes.ts";
import { benchmarkSchema, type Benchmark } from "../../shared/protocol/from-island.ts";
import { isProblem, type Measured, type TokenRate } from "./examination.ts";

const FILE = "benchmark.json";
/** A smaller model says nothing about the speed of memory: most of its time is spent elsewhere. */
const MIN_MODEL_BYTES = 100 * MIB;

/**
 * Keeps the measured speed for the next start of the agent, which reports it to the coordinator. Writing a token reads
 * the whole model once, so the speed applies to models of other sizes as well.
 */
export async function keepBenchmark(
  dataDirectory: string,
  modelPath: string,
  tokens: Measured<TokenRate>,
): Promise<void> {
  if (isProblem(tokens)) return;
  const { size } = await stat(modelPath);
  if (size < MIN_MODEL_BYTES) return;
  const benchmark: Benchmark = { modelBytesPerMs: (size * tokens.tokensPerSecond) / 1_000 };
  await writeFile(join(dataDirectory, FILE), JSON.stringify(benchmark));
}

/** Returns the speed that the doctor measured last; undefined without a valid one. */
export async function readBenchmark(dataDirectory: string): Promise<Benchmark | undefined> {
  const text = await readFile(join(dataDirectory, FILE), "utf8").catch(() => "null");
  try {
    return benchmarkSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

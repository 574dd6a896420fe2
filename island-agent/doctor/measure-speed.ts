import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import type { CargoRuntime, RunRequest, RunResult } from "../runtimes/runtime.ts";
import type { MatrixRate, Measured, TokenRate } from "./examination.ts";

const MAX_MEASURE_MS = 60_000;
/** Number of measured runs, which follow one unmeasured run. */
const RUNS = 3;

/** Prompt that produces a long completion. */
const PROMPT = "Count from 1 to 40.";
const MAX_TOKENS = 200;
const CONTEXT_TOKENS = 512;

/**
 * Model that multiplies a square matrix with itself. Made by tools/make-matrix-model.py, which sets the size and the
 * number of products.
 */
const MATRIX_MODEL = fileURLToPath(new URL("./matrix.onnx", import.meta.url));
const MATRIX_SIZE = 512;
const MATRIX_PRODUCTS = 40;

interface Measurement {
  readonly cargo: Pick<CargoManifest, "runtimeType" | "contextTokens">;
  readonly modelPath: string;
  readonly input: RunRequest["input"];
}

/** Measures the token rate of one job with the model of a GGUF file. Never throws. */
export async function measureTokens(
  runtime: CargoRuntime,
  modelPath: string,
  clock: Clock,
  limitMs = MAX_MEASURE_MS,
): Promise<Measured<TokenRate>> {
  const input = { prompt: PROMPT, max_tokens: MAX_TOKENS, temperature: 0 };
  const cargo = { runtimeType: "llmcpp", contextTokens: CONTEXT_TOKENS } as const;
  return measure(runtime, { cargo, modelPath, input }, clock, limitMs, (results, seconds) => {
    const tokens = results.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
    return { tokensPerSecond: Math.round(tokens / seconds), model: basename(modelPath) };
  });
}

/** Measures how fast the `onnx` runtime multiplies 32-bit matrices, with the threads of a job. Never throws. */
export async function measureMatrix(
  runtime: CargoRuntime,
  clock: Clock,
  limitMs = MAX_MEASURE_MS,
): Promise<Measured<MatrixRate>> {
  const input = { inputs: { number: { type: "float32", dims: [1], data: [1 / MATRIX_SIZE] } } };
  const cargo = { runtimeType: "onnx", contextTokens: null } as const;
  return measure(runtime, { cargo, modelPath: MATRIX_MODEL, input }, clock, limitMs, (results, seconds) => {
    const operations = results.length * MATRIX_PRODUCTS * 2 * MATRIX_SIZE ** 3;
    return { gigaflops: Math.round(operations / seconds / 1e8) / 10, size: MATRIX_SIZE };
  });
}

async function measure<T>(
  runtime: CargoRuntime,
  { cargo, modelPath, input }: Measurement,
  clock: Clock,
  limitMs: number,
  rateOf: (results: readonly RunResult[], seconds: number) => T,
): Promise<Measured<T>> {
  const limit = AbortSignal.timeout(limitMs);
  const manifest: CargoManifest = {
    slug: "doctor",
    onnxTaskType: null,
    model: null,
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    ...cargo,
  };
  try {
    await using loaded = await runtime.load(manifest, modelPath, limit);
    const run = (): Promise<RunResult> => loaded.run({ input, resume: null }, () => undefined, limit);
    await run();
    const beganMs = clock.monotonicMs();
    const results: RunResult[] = [];
    while (results.length < RUNS) results.push(await run());
    return rateOf(results, (clock.monotonicMs() - beganMs) / 1_000);
  } catch (error) {
    if (limit.aborted) return { problem: `the measurement took longer than ${limitMs / 1_000} s` };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

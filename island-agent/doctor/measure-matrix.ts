import { fileURLToPath } from "node:url";
import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import type { CargoRuntime } from "../runtimes/runtime.ts";
import { MEASURE_LIMIT_MS, type MatrixRate, type Measured } from "./examination.ts";

/** Multiplies a square matrix with itself. Made by tools/make-matrix-model.py, whose figures these are. */
const MODEL = fileURLToPath(new URL("./matrix.onnx", import.meta.url));
const SIZE = 512;
const PRODUCTS = 40;
const RUNS = 3;

/** How fast the `onnx` runtime multiplies 32-bit matrices, with the threads of a job. Never throws. */
export async function measureMatrix(
  runtime: CargoRuntime,
  clock: Clock,
  limitMs = MEASURE_LIMIT_MS,
): Promise<Measured<MatrixRate>> {
  const limit = AbortSignal.timeout(limitMs);
  const cargo: CargoManifest = {
    slug: "doctor",
    runtimeType: "onnx",
    onnxTaskType: null,
    model: null,
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    contextTokens: null,
  };
  const input = { inputs: { number: { type: "float32", dims: [1], data: [1 / SIZE] } } };
  try {
    await using loaded = await runtime.load(cargo, MODEL, limit);
    const run = () => loaded.run({ input, resume: null }, () => undefined, limit);
    await run();
    const beganMs = clock.monotonicMs();
    for (let count = 0; count < RUNS; count += 1) await run();
    const seconds = (clock.monotonicMs() - beganMs) / 1_000;
    const operations = RUNS * PRODUCTS * 2 * SIZE ** 3;
    return { gigaflops: Math.round(operations / seconds / 1e8) / 10, size: SIZE };
  } catch (error) {
    if (limit.aborted) return { problem: `it takes longer than ${limitMs / 1_000} s` };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

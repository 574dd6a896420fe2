import { basename } from "node:path";
import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import type { CargoRuntime } from "../runtimes/runtime.ts";
import { MEASURE_LIMIT_MS, type Measured, type TokenRate } from "./examination.ts";

/** Text that a model goes on with for long. */
const PROMPT = "Count from 1 to 40.";
const MAX_TOKENS = 200;
/** Answers that are measured together, after one that is not. */
const ANSWERS = 3;
const CONTEXT_TOKENS = 512;

/** How fast a model in a GGUF file answers one job. Never throws. */
export async function measureTokens(
  runtime: CargoRuntime,
  modelPath: string,
  clock: Clock,
  limitMs = MEASURE_LIMIT_MS,
): Promise<Measured<TokenRate>> {
  const limit = AbortSignal.timeout(limitMs);
  const cargo: CargoManifest = {
    slug: "doctor",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: null,
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    contextTokens: CONTEXT_TOKENS,
  };
  try {
    await using loaded = await runtime.load(cargo, modelPath, limit);
    const answer = async (): Promise<number> => {
      const input = { prompt: PROMPT, max_tokens: MAX_TOKENS, temperature: 0 };
      const { usage } = await loaded.run({ input, resume: null }, () => undefined, limit);
      return usage.completionTokens;
    };
    await answer();
    const beganMs = clock.monotonicMs();
    let tokens = 0;
    for (let count = 0; count < ANSWERS; count += 1) tokens += await answer();
    const seconds = (clock.monotonicMs() - beganMs) / 1_000;
    return { tokensPerSecond: Math.round(tokens / seconds), model: basename(modelPath) };
  } catch (error) {
    if (limit.aborted) return { problem: `it takes longer than ${limitMs / 1_000} s` };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

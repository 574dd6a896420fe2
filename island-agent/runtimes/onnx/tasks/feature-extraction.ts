import type { FeatureExtractionPipeline } from "@huggingface/transformers";
import type { WeightFormat } from "../../../../shared/cargo.ts";
import type { TaskHandler } from "./task-handler.ts";
import { countPromptTokens } from "./count-prompt-tokens.ts";

/** Tokens of a batch, padding included. Larger batches take more memory without being faster. */
const MAX_BATCH_TOKENS = 4_096;
/**
 * Formats whose graphs scale activations by the minimum and maximum of the whole batch (DynamicQuantizeLinear). A text's vector would
 * depend on the rest of its batch, so each text is run alone.
 */
const SCALED_BY_BATCH: ReadonlySet<WeightFormat> = new Set(["q8", "int8", "uint8"]);

/** feature-extraction: one vector for each text; with `pooling: none` one for each token of the only text. */
export const featureExtraction: TaskHandler<"feature-extraction", FeatureExtractionPipeline> = async (
  pipe,
  { input, pooling, normalize },
  { weights, onProgress },
) => {
  const texts = typeof input === "string" ? [input] : input;
  const sizes = texts.map((text, i) =>
    countPromptTokens(pipe, typeof input === "string" ? "input" : `input.${i}`, text),
  );
  const embeddings: number[][] = [];
  let done = 0;
  for (const batch of planBatches(sizes, SCALED_BY_BATCH.has(weights) ? 0 : MAX_BATCH_TOKENS)) {
    const tensor = await pipe(
      batch.map((index) => texts[index] ?? ""),
      { pooling, normalize },
    );
    const rows = tensor.tolist() as number[][] | number[][][];
    if (pooling === "none") embeddings.push(...(rows as number[][][]).flat());
    else for (const [i, index] of batch.entries()) embeddings[index] = rows[i] as number[];
    done += batch.length;
    onProgress(done, texts.length);
  }
  return { output: { embeddings }, promptTokens: sizes.reduce((sum, tokens) => sum + tokens, 0) };
};

/**
 * Groups texts of similar length into batches and returns their indices. Padded to its longest text, a batch has at most `batchTokens`
 * tokens, unless it is a single text.
 */
export function planBatches(sizes: readonly number[], batchTokens: number): number[][] {
  const batches: number[][] = [];
  let batch: number[] = [];
  for (const index of [...sizes.keys()].sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0))) {
    if (batch.length > 0 && (batch.length + 1) * (sizes[index] ?? 0) > batchTokens) {
      batches.push(batch);
      batch = [];
    }
    batch.push(index);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

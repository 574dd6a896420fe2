import type { FeatureExtractionPipeline } from "@huggingface/transformers";
import type { WeightFormat } from "../../../../shared/cargo.ts";
import type { TaskAnswerer } from "./task-handler.ts";
import { measureText } from "./count-prompt-tokens.ts";

/** Most tokens that go through the model at once, padding counted: beyond, memory grows and speed does not. */
const BATCH_TOKENS = 4_096;
/**
 * Formats whose graphs scale their activations by the least and greatest value of the whole batch (DynamicQuantizeLinear): there a
 * text's vector depends on what it is batched with, and so each goes alone.
 */
const SCALED_BY_BATCH: ReadonlySet<WeightFormat> = new Set(["q8", "int8", "uint8"]);

/** A vector for each text, or for each token of the one text where nothing is pooled. */
export const embedTexts: TaskAnswerer<"feature-extraction", FeatureExtractionPipeline> = async (
  pipe,
  { input, pooling, normalize },
  { weights, onProgress },
) => {
  const texts = typeof input === "string" ? [input] : input;
  const sizes = texts.map((text, i) => measureText(pipe, typeof input === "string" ? "input" : `input.${i}`, text));
  const embeddings: number[][] = [];
  let done = 0;
  for (const batch of planBatches(sizes, SCALED_BY_BATCH.has(weights) ? 0 : BATCH_TOKENS)) {
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
 * Indices of texts in batches, texts of like length together. A batch padded to its longest text has at most `batchTokens` tokens, or
 * it is one text.
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

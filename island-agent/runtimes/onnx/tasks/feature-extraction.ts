import type { FeatureExtractionPipeline } from "@huggingface/transformers";
import { batched } from "./text-batch.ts";

/**
 * Runs feature-extraction. The result has one vector for each text or, with `pooling: none`, one for each token of a
 * single text.
 */
export const featureExtraction = batched<"feature-extraction", FeatureExtractionPipeline, number[] | number[][]>({
  texts: ({ input }) =>
    typeof input === "string"
      ? [{ field: "input", text: input }]
      : input.map((text, i) => ({ field: `input.${i}`, text })),
  rows: async (pipe, texts, { pooling, normalize }) =>
    (await pipe([...texts], { pooling, normalize })).tolist() as number[][] | number[][][],
  output: ({ pooling }, rows) => ({
    embeddings: pooling === "none" ? (rows as number[][][]).flat() : (rows as number[][]),
  }),
});

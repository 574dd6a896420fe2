import type { OpenAI } from "openai";
import { CARGOS, makeCargo } from "../api-catalog.ts";
import { DONE } from "../scripted-jobs.ts";
import { describeParameters } from "./parameter-cases.ts";

const embedder = (slug: string, workloadId: number) =>
  makeCargo({ slug, workloadId, runtimeType: "onnx", onnxTaskType: "feature-extraction", isChat: false });

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.EmbeddingCreateParams]: unknown }> = {
  input: "b",
  model: "other-vectors",
  encoding_format: "base64",
  dimensions: 2,
  user: "someone",
};

describeParameters({
  endpoint: "POST /embeddings",
  base: { input: "a", model: "vectors" },
  samples: OFFICIAL,
  // The vectors have this number of dimensions anyway.
  unseen: ["dimensions"],
  arrange: (api) => {
    api.catalog.replace([...CARGOS, embedder("vectors", 20), embedder("other-vectors", 21)]);
    api.jobs.onSubmit = (feed) => feed.end({ ...DONE, output: { embeddings: [[0.5, 2]] } });
  },
});

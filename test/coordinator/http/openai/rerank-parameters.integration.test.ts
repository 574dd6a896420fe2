import { CARGOS, makeCargo } from "../api-catalog.ts";
import { DONE } from "../scripted-jobs.ts";
import { describeParameters } from "./parameter-cases.ts";

const embedder = (slug: string, workloadId: number) =>
  makeCargo({ slug, workloadId, runtimeType: "onnx", onnxTaskType: "feature-extraction", isChat: false });

describeParameters({
  endpoint: "POST /rerank",
  base: { query: "a", documents: ["b", "c"] },
  samples: {
    query: "d",
    documents: ["e", "f"],
    "documents[].text": [{ text: "g" }, "c"],
    model: "other-vectors",
    top_n: 1,
    return_documents: true,
    top_k: 1,
    max_tokens_per_doc: 100,
    max_chunks_per_doc: 10,
    rank_fields: ["text"],
    truncation: true,
    priority: 1,
  },
  arrange: (api) => {
    api.catalog.replace([...CARGOS, embedder("tiny-embed", 20), embedder("other-vectors", 21)]);
    const embeddings = [
      [0, 2],
      [1, 0],
      [0, 1],
    ];
    api.jobs.onSubmit = (feed) => feed.end({ ...DONE, output: { embeddings } });
  },
});

import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /rerank`. Source of the names: the rerank APIs of Cohere (v2), Jina and Voyage. */
export const RERANK_PARAMETERS: readonly ParameterRule[] = [
  { name: "query", rule: "honoured", note: "" },
  { name: "documents", rule: "honoured", note: "1 to 255, texts or objects with a `text`" },
  { name: "documents[].text", rule: "honoured", note: "" },
  {
    name: "model",
    rule: "honoured",
    note: "a Cargo with the task text-ranking or feature-extraction; default: `default_rerank_cargo`",
  },
  { name: "top_n", rule: "honoured", note: "the best to return, default: all" },
  { name: "return_documents", rule: "honoured", note: "default false" },
  { name: "top_k", rule: "refused", note: "its name is `top_n` here" },
  { name: "max_tokens_per_doc", rule: "refused", note: "texts are not cut" },
  { name: "max_chunks_per_doc", rule: "refused", note: "texts are not cut" },
  { name: "rank_fields", rule: "refused", note: "documents are texts" },
  { name: "truncation", rule: "refused", note: "texts are not cut", neutral: [false] },
  { name: "priority", rule: "hint", note: "there is one" },
];

import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /embeddings`. Source of the names: OpenAI's API. */
export const EMBEDDING_PARAMETERS: readonly ParameterRule[] = [
  {
    name: "input",
    rule: "honoured",
    note: "a text, or up to 2,048, of which each 256, or 255 KiB, are a job; lists of tokens are refused",
  },
  {
    name: "model",
    rule: "honoured",
    note: "a Cargo with the task feature-extraction; default: `default_embedding_cargo`",
  },
  { name: "encoding_format", rule: "honoured", note: "`float` (default) or `base64`" },
  {
    name: "dimensions",
    rule: "honoured",
    note: "the model's own number; another is refused once the vectors are made, which is charged",
  },
  { name: "user", rule: "hint", note: "a label for OpenAI" },
];

import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /completions`. Source of the names: OpenAI's API, and llama.cpp's for `top_k`, `min_p`, `repeat_penalty`. */
export const TEXT_COMPLETION_PARAMETERS: readonly ParameterRule[] = [
  { name: "model", rule: "honoured", note: "a chat Cargo, or an alias of one" },
  {
    name: "prompt",
    rule: "honoured",
    note: "a text, or up to 16, a job each, four at once; lists of tokens are refused",
  },
  { name: "max_tokens", rule: "honoured", note: "default 16; lowered as in chats" },
  { name: "temperature", rule: "honoured", note: "0 to 2, default 0.7" },
  { name: "top_p", rule: "honoured", note: "above 0, up to 1" },
  { name: "top_k", rule: "honoured", note: "0: any number" },
  { name: "min_p", rule: "honoured", note: "" },
  { name: "stop", rule: "honoured", note: "at most 4 texts of at most 200 characters" },
  { name: "seed", rule: "honoured", note: "0 to 4294967295" },
  { name: "frequency_penalty", rule: "honoured", note: "" },
  { name: "presence_penalty", rule: "honoured", note: "" },
  { name: "repeat_penalty", rule: "honoured", note: "0.5 to 2; 1: none" },
  { name: "logit_bias", rule: "honoured", note: "at most 300 tokens, by their ids in the model's own vocabulary" },
  { name: "echo", rule: "honoured", note: "" },
  { name: "stream", rule: "honoured", note: "for one prompt" },
  { name: "stream_options", rule: "honoured", note: "" },
  { name: "stream_options.include_usage", rule: "honoured", note: "" },
  {
    name: "stream_options.include_obfuscation",
    rule: "refused",
    note: "chunks are not padded",
    neutral: [false],
  },
  { name: "suffix", rule: "refused", note: "models continue a text and do not fill gaps", neutral: [""] },
  { name: "n", rule: "refused", note: "a prompt has one choice", neutral: [1] },
  { name: "best_of", rule: "refused", note: "a prompt has one choice", neutral: [1] },
  { name: "logprobs", rule: "refused", note: "only `POST /chat/completions` and `POST /responses` give probabilities" },
  { name: "user", rule: "hint", note: "a label for OpenAI" },
];

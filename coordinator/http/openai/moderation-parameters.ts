import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /moderations`. Source of the names: OpenAI's API. */
export const MODERATION_PARAMETERS: readonly ParameterRule[] = [
  { name: "input", rule: "honoured", note: "a text, or up to 32, a job each, four at once" },
  { name: "input[].type", rule: "honoured", note: "`text`; other kinds are refused" },
  { name: "input[].text", rule: "honoured", note: "" },
  { name: "input[].image_url", rule: "refused", note: "only text is served" },
  {
    name: "model",
    rule: "honoured",
    note: "a Cargo with the task text-classification; default: `default_moderation_cargo`",
  },
];

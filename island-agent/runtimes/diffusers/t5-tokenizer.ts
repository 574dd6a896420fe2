import { T5Tokenizer } from "@huggingface/transformers";
import type { PromptTokens } from "./clip-tokenizer.ts";

/** T5's end and padding where a tokenizer's file does not say. Source: Raffel et al. 2019, code. */
const PADDING = 0;

/**
 * Returns a function that tokenizes prompts for T5: text, end, padding.
 * @param json `tokenizer.json`. @param length of what it returns. @throws {Error} when the files are not a tokenizer's.
 */
export function openT5Tokenizer(
  json: object,
  config: Readonly<Record<string, unknown>>,
  length: number,
): (prompt: string) => PromptTokens {
  const tokenizer = new T5Tokenizer(json, config);
  const { eos_token_id: end, pad_token_id: padding } = tokenizer;
  if (typeof end !== "number") throw new Error("it has no end token");
  return (prompt) => {
    const text = tokenizer.encode(prompt, { add_special_tokens: false }).slice(0, length - 1);
    const ids = [...text, end];
    while (ids.length < length) ids.push(padding ?? PADDING);
    return { ids, textTokens: text.length };
  };
}

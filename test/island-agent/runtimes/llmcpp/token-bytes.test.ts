import type { LlamaModel, Token } from "node-llama-cpp";
import { expect, it } from "vitest";
import { bytesOfToken } from "../../../../island-agent/runtimes/llmcpp/token-bytes.ts";

const modelOf = (model: string, tokens: string[]) =>
  ({ fileInfo: { metadata: { tokenizer: { ggml: { model, tokens } } } } }) as unknown as LlamaModel;

it.each<[string, string, string, number[] | null]>([
  ["a space and letters in GPT-2's layout", "gpt2", "Ġhi", [0x20, 0x68, 0x69]],
  ["the first byte of é in GPT-2's layout", "gpt2", "Ã", [0xc3]],
  ["the last bytes of that layout", "gpt2", "ÿŃĀ", [0xff, 0xad, 0]],
  ["a byte of SentencePiece's layout", "llama", "<0xC3>", [0xc3]],
  ["a word of SentencePiece's layout", "llama", "▁hi", null],
  ["a token that is not written in bytes", "gpt2", "日", null],
])("bytesOfToken() decodes %s", (_, layout, written, bytes) => {
  expect(bytesOfToken(modelOf(layout, ["other", written]), 1 as Token)).toEqual(bytes);
  expect(bytesOfToken(modelOf(layout, []), 1 as Token)).toBeNull();
});

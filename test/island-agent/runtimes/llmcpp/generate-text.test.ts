import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { expect, it } from "vitest";
import { Completion } from "../../../../island-agent/runtimes/llmcpp/completion.ts";
import { generateText } from "../../../../island-agent/runtimes/llmcpp/generate-text.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { NEVER } from "./llmcpp-support.ts";

const WORDS = ["[INST]", " Hello", ",", " world"];
const tokensOf = (...words: string[]): Token[] => words.map((word) => WORDS.indexOf(word) as Token);

/** Like SentencePiece, the model drops the space of a text's first word. */
function sequenceThatSays(...words: string[]): LlamaContextSequence {
  const textOf = (tokens: readonly Token[]): string =>
    tokens
      .map((token) => WORDS[token])
      .join("")
      .replace(/^ /, "");
  const detokenize = (tokens: readonly Token[], _special: boolean, before: readonly Token[]): string =>
    textOf([...before, ...tokens]).slice(textOf(before).length);
  const sequence = {
    model: { detokenize },
    nextTokenIndex: 0,
    adaptStateToTokens: async () => undefined,
    evaluate: async function* () {
      yield* tokensOf(...words);
    },
  };
  return sequence as unknown as LlamaContextSequence;
}

it("generateText() keeps the space before the first word of a resumed completion", async () => {
  const items: OutputItem[] = [];
  const sequence = sequenceThatSays(" world", ",", " Hello");
  const prompt = tokensOf("[INST]", " Hello", ",");
  const sampling = { temperature: 0, seed: 1, repeatPenalty: false } as const;
  const completion = new Completion([], (item) => items.push(item), NEVER);
  await completion.end(generateText({ sequence, prompt, endTokens: new Set(), sampling, maxTokens: 9 }, completion));
  expect(items.map((item) => item.type === "token" && item.content)).toEqual([" world", ",", " Hello"]);
});

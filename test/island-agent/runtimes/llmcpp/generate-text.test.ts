import type { LlamaContextSequence, SequenceEvaluateOptions, Token } from "node-llama-cpp";
import { expect, it } from "vitest";
import { Completion } from "../../../../island-agent/runtimes/llmcpp/completion.ts";
import { generateText } from "../../../../island-agent/runtimes/llmcpp/generate-text.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { NEVER } from "./llmcpp-support.ts";

const WORDS = ["[INST]", " Hello", ",", " world"];
const tokensOf = (...words: string[]): Token[] => words.map((word) => WORDS.indexOf(word) as Token);

/** The model drops the space of a text's first word, as SentencePiece does. */
function sequenceThatSays(
  words: readonly string[],
  onOptions: (options: SequenceEvaluateOptions) => void = () => undefined,
): LlamaContextSequence {
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
    evaluate: async function* (_tokens: readonly Token[], options: SequenceEvaluateOptions) {
      onOptions(options);
      yield* tokensOf(...words);
    },
  };
  return sequence as unknown as LlamaContextSequence;
}

it("generateText() keeps the space before the first word of a resumed completion", async () => {
  const items: OutputItem[] = [];
  const sequence = sequenceThatSays([" world", ",", " Hello"]);
  const prompt = tokensOf("[INST]", " Hello", ",");
  const sampling = { temperature: 0, seed: 1, repeatPenalty: false } as const;
  const completion = new Completion([], (item) => items.push(item), NEVER);
  await completion.end(generateText({ sequence, prompt, endTokens: new Set(), sampling, maxTokens: 9 }, completion));
  expect(items.map((item) => item.type === "token" && item.content)).toEqual([" world", ",", " Hello"]);
});

it("generateText() passes every penalty to the sequence, with the last tokens of the completion", async () => {
  const passed: SequenceEvaluateOptions[] = [];
  const sequence = sequenceThatSays([" Hello", ",", " world"], (options) => passed.push(options));
  const penalties = { penalty: 1.2, frequencyPenalty: 0.3, presencePenalty: 0.4, laterPenalty: 0.5 };
  const before = tokensOf("[INST]");
  const repeatPenalty = {
    ...penalties,
    penalizeNewLine: true,
    lastTokens: 2,
    punishTokensFilter: (written: Token[]) => [...before, ...written],
  };
  const sampling = { temperature: 0, seed: 1, repeatPenalty };
  const completion = new Completion([], () => undefined, NEVER);
  const prompt = tokensOf("[INST]");
  await completion.end(generateText({ sequence, prompt, endTokens: new Set(), sampling, maxTokens: 9 }, completion));
  const [options] = passed;
  expect(options).toEqual({
    temperature: 0,
    seed: 1,
    repeatPenalty: { ...penalties, maxPunishTokens: 2, punishTokens: expect.any(Function) },
  });
  const { punishTokens } = options?.repeatPenalty || {};
  expect(typeof punishTokens === "function" && punishTokens()).toEqual(tokensOf("[INST]", ",", " world"));
});

import type { LLamaContextualRepeatPenalty, Token } from "node-llama-cpp";
import type { ChatRequest } from "../../../shared/chat-input.ts";

/** As LlamaChat takes it. */
export interface Sampling {
  readonly temperature: number;
  readonly topP?: number;
  readonly seed: number;
  readonly repeatPenalty: false | Required<LLamaContextualRepeatPenalty>;
}

/**
 * Sampling options of a request. What it leaves open is llama.cpp's default (top_k 40, top_p 0.95).
 * @param before tokens of the answer from an earlier attempt; penalties count them too.
 * @param randomSeed for a request without a seed. The library's default is the time in seconds, which gives simultaneous jobs the
 *   same answer.
 */
export function samplingOf(request: ChatRequest, before: readonly Token[], randomSeed: number): Sampling {
  const { temperature, topP, seed, frequencyPenalty, presencePenalty, maxTokens } = request;
  const hasPenalty = frequencyPenalty !== 0 || presencePenalty !== 0;
  return {
    temperature,
    ...(topP === null ? {} : { topP }),
    seed: seed ?? randomSeed,
    repeatPenalty: hasPenalty && {
      // Turns off the library's default penalty of 1.1.
      penalty: 1,
      frequencyPenalty,
      presencePenalty,
      penalizeNewLine: true,
      lastTokens: maxTokens,
      punishTokensFilter: (written) => [...before, ...written],
    },
  };
}

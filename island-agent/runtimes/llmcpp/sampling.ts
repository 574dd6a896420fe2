import type { LLamaChatGenerateResponseOptions, Token } from "node-llama-cpp";
import type { ChatRequest } from "../../../shared/chat-input.ts";

type Sampling = Pick<LLamaChatGenerateResponseOptions, "temperature" | "topP" | "seed" | "repeatPenalty">;

/**
 * How the next token is drawn. What the request leaves open is llama.cpp's default (top_k 40, top_p 0.95). `randomSeed` serves a request
 * without seed: the library would take the time in seconds, so that simultaneous jobs would get the same answer.
 * @param before tokens of the answer that an earlier attempt wrote; penalties count them too.
 */
export function samplingOf(request: ChatRequest, before: readonly Token[], randomSeed: number): Sampling {
  const { temperature, topP, seed, frequencyPenalty, presencePenalty, maxTokens } = request;
  const hasPenalty = frequencyPenalty !== 0 || presencePenalty !== 0;
  return {
    temperature,
    ...(topP === null ? {} : { topP }),
    seed: seed ?? randomSeed,
    repeatPenalty: hasPenalty && {
      // The library's own penalty (1.1) is not asked for.
      penalty: 1,
      frequencyPenalty,
      presencePenalty,
      penalizeNewLine: true,
      lastTokens: maxTokens,
      punishTokensFilter: (written) => [...before, ...written],
    },
  };
}

import { type LLamaContextualRepeatPenalty, type LlamaModel, type Token, TokenBias } from "node-llama-cpp";
import type { ChatRequest } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";

/** Sampling options of LlamaChat. */
export interface Sampling {
  readonly temperature: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  readonly tokenBias?: TokenBias;
  readonly seed: number;
  readonly repeatPenalty: false | Required<LLamaContextualRepeatPenalty>;
}

/**
 * Returns the sampling options of a request. Missing options get llama.cpp's defaults (top_k 40, top_p 0.95).
 * @throws {JobFailure} `invalid_input` for a bias of a token that the model does not have, or that ends completions.
 * @param before tokens of the completion from an earlier attempt; penalties count them.
 * @param randomSeed for a request without a seed. The library's default is the time in seconds, which gives
 * simultaneous jobs the same completion.
 */
export function samplingOf(
  request: ChatRequest,
  model: LlamaModel,
  before: readonly Token[],
  randomSeed: number,
): Sampling {
  const { temperature, topP, seed, frequencyPenalty, presencePenalty, maxTokens } = request;
  const { topK, minP, repeatPenalty, logitBias } = request;
  const hasPenalty = frequencyPenalty !== 0 || presencePenalty !== 0 || repeatPenalty !== 1;
  return {
    temperature,
    ...(topP === null ? {} : { topP }),
    ...(topK === null ? {} : { topK }),
    ...(minP === null ? {} : { minP }),
    ...(logitBias.length === 0 ? {} : { tokenBias: tokenBiasOf(model, logitBias) }),
    seed: seed ?? randomSeed,
    repeatPenalty: hasPenalty && {
      // Set explicitly, because the library's default is 1.1.
      penalty: repeatPenalty,
      frequencyPenalty,
      presencePenalty,
      penalizeNewLine: true,
      lastTokens: maxTokens,
      punishTokensFilter: (written) => [...before, ...written],
    },
  };
}

/** OpenAI's lowest bias, which excludes its token. */
const EXCLUDES = -100;

function tokenBiasOf({ tokenizer, fileInfo }: LlamaModel, biases: ChatRequest["logitBias"]): TokenBias {
  const known = fileInfo.metadata.tokenizer.ggml.tokens.length;
  const tokenBias = TokenBias.for(tokenizer);
  for (const [id, logit] of biases) {
    if (id >= known)
      throw new JobFailure("invalid_input", `logit_bias: the model has ${known} tokens, so token ${id} is unknown`);
    // The library silently ignores such a bias.
    if (tokenizer.isEogToken(id as Token)) {
      throw new JobFailure("invalid_input", `logit_bias: token ${id} ends the completion and cannot have a bias`);
    }
    tokenBias.set(id as Token, logit <= EXCLUDES ? "never" : { logit });
  }
  return tokenBias;
}

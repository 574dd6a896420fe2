import { type LLamaContextualRepeatPenalty, type LlamaModel, type Token, TokenBias } from "node-llama-cpp";
import type { ChatRequest } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";

/** As LlamaChat takes it. */
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
 * Sampling options of a request. What it leaves open is llama.cpp's default (top_k 40, top_p 0.95).
 * @throws {JobFailure} `invalid_input` for a bias of a token that the model does not have, or that ends answers.
 * @param before tokens of the answer from an earlier attempt; penalties count them too.
 * @param randomSeed for a request without a seed. The library's default is the time in seconds, which gives simultaneous jobs the
 *   same answer.
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
      // The library's default is 1.1.
      penalty: repeatPenalty,
      frequencyPenalty,
      presencePenalty,
      penalizeNewLine: true,
      lastTokens: maxTokens,
      punishTokensFilter: (written) => [...before, ...written],
    },
  };
}

/** A bias as low as OpenAI takes excludes its token. */
const EXCLUDES = -100;

function tokenBiasOf({ tokenizer, fileInfo }: LlamaModel, biases: ChatRequest["logitBias"]): TokenBias {
  const known = fileInfo.metadata.tokenizer.ggml.tokens.length;
  const tokenBias = TokenBias.for(tokenizer);
  for (const [id, logit] of biases) {
    if (id >= known)
      throw new JobFailure("invalid_input", `logit_bias: the model has ${known} tokens, and no token ${id}`);
    // The library leaves such a bias out, without a word.
    if (tokenizer.isEogToken(id as Token)) {
      throw new JobFailure("invalid_input", `logit_bias: token ${id} ends answers and cannot have a bias`);
    }
    tokenBias.set(id as Token, logit <= EXCLUDES ? "never" : { logit });
  }
  return tokenBias;
}

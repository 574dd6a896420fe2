import type { PreTrainedModel, PreTrainedTokenizer } from "@huggingface/transformers";
import { JobFailure } from "../../../../shared/errors.ts";

/** A pipeline that reads text. */
export interface TextPipeline {
  readonly tokenizer: PreTrainedTokenizer;
  readonly model: PreTrainedModel;
}

/** Some tokenizers say "no limit" by a number such as 1e30. */
const MOST_POSITIONS = 1_000_000;

/**
 * Tokens of a text, or of two that the model reads together, special ones too. transformers.js would cut what is too long in silence.
 * @param field of the input, for messages.
 * @throws {JobFailure} `context_length_exceeded`
 */
export function measureText({ tokenizer, model }: TextPipeline, field: string, text: string, pair?: string): number {
  const encoded = tokenizer(text, pair === undefined ? {} : { text_pair: pair });
  const tokens = encoded.input_ids.dims.at(-1) ?? 0;
  const { max_position_embeddings: positions } = model.config as { max_position_embeddings?: unknown };
  const limits = [tokenizer.model_max_length, positions].filter(
    (limit) => typeof limit === "number" && limit > 0 && limit < MOST_POSITIONS,
  );
  const most = Math.min(...(limits as number[]));
  if (tokens <= most) return tokens;
  throw new JobFailure("context_length_exceeded", `${field}: has ${tokens} tokens; the model takes at most ${most}`);
}

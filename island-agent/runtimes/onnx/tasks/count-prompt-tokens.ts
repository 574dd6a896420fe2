import type { PreTrainedModel, PreTrainedTokenizer } from "@huggingface/transformers";
import { JobFailure } from "../../../../shared/errors.ts";

export interface TextPipeline {
  readonly tokenizer: PreTrainedTokenizer;
  readonly model: PreTrainedModel;
}

/** Limit above which a value means "no limit". Some tokenizers state 1e30. */
const MAX_POSITIONS = 1_000_000;

/**
 * Counts the tokens of a text, or of a pair of texts that the model reads together. Special tokens count. The limit is
 * checked here because transformers.js silently truncates texts that are too long.
 * @param field of the input, for messages.
 * @throws {JobFailure} `context_length_exceeded`
 */
export function countPromptTokens(
  { tokenizer, model }: TextPipeline,
  field: string,
  text: string,
  pair?: string,
): number {
  const encoded = tokenizer(text, pair === undefined ? {} : { text_pair: pair });
  const tokens = encoded.input_ids.dims.at(-1) ?? 0;
  const { max_position_embeddings: positions } = model.config as { max_position_embeddings?: unknown };
  const limits = [tokenizer.model_max_length, positions].filter(
    (limit) => typeof limit === "number" && limit > 0 && limit < MAX_POSITIONS,
  );
  const max = Math.min(...(limits as number[]));
  if (tokens <= max) return tokens;
  throw new JobFailure(
    "context_length_exceeded",
    `${field}: has ${tokens} tokens, but the model accepts at most ${max}`,
  );
}

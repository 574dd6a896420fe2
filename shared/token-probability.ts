import { z } from "zod";

/** Source: OpenAI's API. */
export const MAX_TOP_LOGPROBS = 20;
/** Value that OpenAI's API uses for zero probability. */
export const MIN_LOGPROB = -9_999;
/**
 * Maximum length of a token's text. A longer text is cut. The longest in common vocabularies are runs of 128 spaces.
 */
export const MAX_PROBABLE_CHARS = 512;
/** Maximum number of tokens per item. An item has several tokens if text was held back. */
export const MAX_PROBABLE_TOKENS = 1_000;
/**
 * Maximum number of probabilities in one completion, including the probabilities of alternative tokens. An entry takes
 * about 150 bytes.
 */
const MAX_ANSWER_PROBABILITIES = 100_000;
/** Memory of an entry in addition to its text. */
const ENTRY_BYTES = 112;

const entryFields = {
  token: z.string().max(MAX_PROBABLE_CHARS),
  /** Natural logarithm of the model's probability before temperature, penalties and grammars. */
  logprob: z.number().min(MIN_LOGPROB).max(0),
  /** Bytes of a token that is not a complete text, such as a part of a character. */
  bytes: z.array(z.number().int().min(0).max(255)).max(MAX_PROBABLE_CHARS).optional(),
};

/** Probability of a token. `top`: the likeliest tokens at its position, best first, as many as requested. */
export const tokenProbabilitySchema = z.object({
  ...entryFields,
  top: z.array(z.object(entryFields)).max(MAX_TOP_LOGPROBS),
});
export type TokenProbability = z.infer<typeof tokenProbabilitySchema>;
type Entry = TokenProbability["top"][number];

/** Returns the approximate memory of an item's probabilities. */
export function bytesOfProbabilities(probabilities: readonly TokenProbability[]): number {
  let bytes = 0;
  for (const each of probabilities) {
    bytes += bytesOfEntry(each);
    for (const other of each.top) bytes += bytesOfEntry(other);
  }
  return bytes;
}

function bytesOfEntry({ token, bytes = [] }: Entry): number {
  return ENTRY_BYTES + token.length + bytes.length * 4;
}

/** Fields of a chat's input about probabilities. */
export const probabilityFields = {
  logprobs: z
    .boolean()
    .nullish()
    .describe("Return log probabilities of text tokens, before temperature, penalties and grammars"),
  top_logprobs: z
    .number()
    .int()
    .min(0)
    .max(MAX_TOP_LOGPROBS)
    .nullish()
    .describe(`\`max_tokens\` × (\`top_logprobs\` + 1) may be at most ${MAX_ANSWER_PROBABILITIES}`),
};

interface ProbabilityInput {
  readonly logprobs?: boolean | null | undefined;
  readonly top_logprobs?: number | null | undefined;
}

/** Returns how many of the likeliest tokens are requested for each token; null if no probabilities are requested. */
export function topLogprobsOf({ logprobs, top_logprobs: top }: ProbabilityInput): number | null {
  return logprobs === true ? (top ?? 0) : null;
}

/** Returns the problem of `top_logprobs`; null if it is valid. */
export function probabilityProblem(input: ProbabilityInput, maxTokens: number): string | null {
  const { top_logprobs: top } = input;
  if (input.logprobs !== true) return (top ?? 0) > 0 ? "needs logprobs" : null;
  const most = Math.floor(MAX_ANSWER_PROBABILITIES / ((top ?? 0) + 1));
  return maxTokens > most ? `allows completions of at most ${most} tokens; set max_tokens` : null;
}

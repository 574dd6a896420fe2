import { z } from "zod";

/** Source: OpenAI's API. */
const MAX_TOP_LOGPROBS = 20;
/** As OpenAI's API has it for what has no probability at all. */
export const MIN_LOGPROB = -9_999;
/** Of the text of one token; longer ones are cut. The longest of common vocabularies are runs of 128 spaces. */
export const MAX_PROBABLE_CHARS = 512;
/** Tokens that one item may tell of: several come together when text was held back. */
export const MAX_PROBABLE_TOKENS = 1_000;
/** Probabilities, those of other tokens included, in one answer: an entry is about 150 bytes. */
const MAX_ANSWER_PROBABILITIES = 100_000;
/** What an entry takes in memory beside its text. */
const ENTRY_BYTES = 112;

const entryFields = {
  token: z.string().max(MAX_PROBABLE_CHARS),
  /** Natural logarithm of its probability, as the model has it before temperature, penalties and grammars. */
  logprob: z.number().min(MIN_LOGPROB).max(0),
  /** Of a token that is no text by itself, such as a part of a character. */
  bytes: z.array(z.number().int().min(0).max(255)).max(MAX_PROBABLE_CHARS).optional(),
};

/** How probable a token of an answer was. `top`: the likeliest tokens in its place, best first, as many as were asked for. */
export const tokenProbabilitySchema = z.object({
  ...entryFields,
  top: z.array(z.object(entryFields)).max(MAX_TOP_LOGPROBS),
});
export type TokenProbability = z.infer<typeof tokenProbabilitySchema>;
type Entry = TokenProbability["top"][number];

/** What the probabilities of an item take in memory, about. */
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

/** Fields of a chat's input. */
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
    .describe(
      `The maximum needs \`max_tokens\` of at most ${Math.floor(MAX_ANSWER_PROBABILITIES / (MAX_TOP_LOGPROBS + 1))}`,
    ),
};

interface ProbabilityInput {
  readonly logprobs?: boolean | null | undefined;
  readonly top_logprobs?: number | null | undefined;
}

/** How many of the likeliest tokens are asked for beside each token; null: no probabilities. */
export function topLogprobsOf({ logprobs, top_logprobs: top }: ProbabilityInput): number | null {
  return logprobs === true ? (top ?? 0) : null;
}

/** What is wrong with `top_logprobs`; null for nothing. */
export function probabilityProblem(input: ProbabilityInput, maxTokens: number): string | null {
  const { top_logprobs: top } = input;
  if (input.logprobs !== true) return (top ?? 0) > 0 ? "needs logprobs" : null;
  const most = Math.floor(MAX_ANSWER_PROBABILITIES / ((top ?? 0) + 1));
  return maxTokens > most ? `is for answers of at most ${most} tokens: set max_tokens` : null;
}

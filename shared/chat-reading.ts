import { z } from "zod";
import { KIB } from "./format-bytes.ts";
import { MIN_LOGPROB } from "./token-probability.ts";

/** Maximum characters of an answer to be read, about four for each token of the longest completion. */
const MAX_READ_CHARS = 512 * KIB;
/** Maximum number of requested positions. The last token is read in addition. */
export const MAX_READ_POSITIONS = 32;
/** Maximum number of the most probable tokens at each position. */
export const MAX_READ_TOP = 64;
/** Less probable tokens are left out of the list of the most probable tokens. */
export const MIN_READ_LOGPROB = -20;

/**
 * Member `read` of a chat's input in `assign`: the Island reads this answer to the chat instead of generating one. Only
 * coordinators add it; clients cannot.
 */
export const chatReadSchema = z
  .strictObject({
    text: z.string().max(MAX_READ_CHARS),
    /** Whether the model ended the answer. Its end token is then read as the last token. False after a stop sequence. */
    has_end: z.boolean(),
    /** Positions of tokens to report, as fractions of the answer. */
    at: z.array(z.number().min(0).lt(1)).min(1).max(MAX_READ_POSITIONS),
  })
  .refine(({ text, has_end: hasEnd }) => hasEnd || text !== "", "contains no token to read");
export type ChatRead = z.infer<typeof chatReadSchema>;

const token = z.number().int().min(0).max(10_000_000);
/** Natural logarithm of the model's probability before temperature, truncation, penalties and grammars. */
const logprob = z.number().min(MIN_LOGPROB).max(0);
const count = z.number().int().min(0).max(1_000_000_000);

/** Output of a job with `read`. */
export const chatReadingSchema = z.object({
  prompt_tokens: count,
  /** Number of tokens of the answer, with its end token. */
  tokens: count,
  /** The tokens at the requested positions and the last token, in their order. */
  positions: z
    .array(
      z.object({
        /** Position in the answer, from 0. */
        index: count,
        token,
        logprob,
        /** The most probable tokens, best first. */
        top: z
          .array(z.tuple([token, logprob]))
          .min(1)
          .max(MAX_READ_TOP),
      }),
    )
    .min(1)
    .max(MAX_READ_POSITIONS + 1),
});
export type ChatReading = z.infer<typeof chatReadingSchema>;

/** Returns the positions that a reading reports, ascending. @param tokens number of tokens of the answer, at least 1 */
export function readPositionsOf({ at }: Pick<ChatRead, "at">, tokens: number): number[] {
  const positions = new Set([...at.map((fraction) => Math.floor(fraction * tokens)), tokens - 1]);
  return [...positions].toSorted((a, b) => a - b);
}

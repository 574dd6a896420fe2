import type { ChatRequest } from "../../shared/chat-input.ts";
import {
  type ChatRead,
  type ChatReading,
  chatReadingSchema,
  MAX_READ_TOP,
  MIN_READ_LOGPROB,
  readPositionsOf,
} from "../../shared/chat-reading.ts";
import { chargeOf, type TokenRates } from "../credits/pricing.ts";

type Position = ChatReading["positions"][number];
/** How the tokens of a chat are sampled. */
type Sampling = Pick<ChatRequest, "temperature" | "topP" | "topK" | "minP">;

/**
 * Draws the positions of a reading, as fractions of the answer: the first one and others, of which more are early. The
 * answer to another prompt is improbable mainly at its beginning.
 * @param count 1 to 32
 * @param random returns numbers from 0 to below 1, which the Island must not know in advance
 */
export function drawPositions(count: number, random: () => number): number[] {
  return Array.from({ length: count }, (_, nth) => (nth === 0 ? 0 : random() ** 2));
}

/** Tolerance for probabilities that an Island rounded and summed in single precision. */
const SUM_TOLERANCE = 1e-3;
const LOGPROB_TOLERANCE = 2e-4;
/** Tokens of a text in addition to its bytes: a space before the first word, and the end token. */
const EXTRA_TOKENS = 2;

/**
 * Checks the output of a reading, of which nothing is trusted.
 * @returns the reading, or why it is invalid
 */
export function checkReading(output: unknown, read: ChatRead): ChatReading | { readonly problem: string } {
  const { success, data: reading, error } = chatReadingSchema.safeParse(output);
  if (!success) {
    const [issue] = error.issues;
    return { problem: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}` };
  }
  const { tokens, positions } = reading;
  const max = Buffer.byteLength(read.text) + EXTRA_TOKENS;
  if (tokens < 1 || tokens > max) return { problem: `tokens: must be 1 to ${max}, got ${tokens}` };
  const expected = readPositionsOf(read, tokens).join();
  const indexes = positions.map(({ index }) => index).join();
  if (indexes !== expected) return { problem: `positions: must be ${expected}, got ${indexes}` };
  const at = positions.findIndex((position) => !isDistribution(position));
  return at === -1 ? reading : { problem: `positions.${at}: is not a distribution` };
}

/** An Island may count this many times the reader's tokens, and some more: templates and tokenizers differ a little. */
const MAX_COUNT_RATIO = 1.1;
const MAX_COUNT_EXCESS = 64;

/** Returns whether a job was charged for more tokens than its Island can have read and written. */
export function chargesTooMuch(
  chargedMicro: number,
  { rates, priceMicro }: { readonly rates: TokenRates | null; readonly priceMicro: number },
  { prompt_tokens: prompt, tokens }: Pick<ChatReading, "prompt_tokens" | "tokens">,
): boolean {
  if (rates === null) return false;
  const most = (count: number): number => Math.ceil(MAX_COUNT_RATIO * count) + MAX_COUNT_EXCESS;
  return chargedMicro > chargeOf(rates, { prompt: most(prompt), completion: most(tokens) }, priceMicro);
}

/**
 * Returns whether the listed tokens are the beginning of a distribution to which the token itself belongs. A list of
 * fewer than {@link MAX_READ_TOP} tokens has all tokens that are not very improbable.
 */
function isDistribution({ token, logprob, top }: Position): boolean {
  const ids = new Set(top.map(([id]) => id));
  const isSorted = top.every(([, each], rank) => rank === 0 || each <= (top[rank - 1]?.[1] ?? 0));
  const sum = top.reduce((total, [, each]) => total + Math.exp(each), 0);
  const isWhole = top.length < MAX_READ_TOP;
  if (ids.size < top.length || !isSorted || sum > 1 + SUM_TOLERANCE || (isWhole && sum < 1 - SUM_TOLERANCE))
    return false;
  const listed = top.find(([id]) => id === token)?.[1];
  if (listed !== undefined) return Math.abs(listed - logprob) <= LOGPROB_TOLERANCE;
  const max = isWhole ? MIN_READ_LOGPROB : (top.at(-1)?.[1] ?? 0);
  return logprob <= max + LOGPROB_TOLERANCE && sum + Math.exp(logprob) <= 1 + SUM_TOLERANCE;
}

/** llama.cpp's defaults for a chat that does not set them (`island-agent/runtimes/llmcpp/sampling.ts`). */
const DEFAULT_TOP_K = 40;
const DEFAULT_TOP_P = 0.95;
/**
 * Temperature that is judged instead of lower ones. At temperature 0, a token 0.05 nats below the best one thus gets
 * 1/e of its probability: logits of other machines and batch sizes differ by about as much.
 */
const MIN_TEMPERATURE = 0.05;
/** Share of tokens that are assumed to follow the model's whole distribution, whatever the truncation. */
const NOISE = 0.01;
/** Tokens that are at most this much less probable than a truncation's last token may be kept on other machines. */
const BORDER_NATS = 0.25;
/** Vocabulary over which a liar's tokens may be spread. The largest have 262,144 tokens. */
const VOCABULARY = 2 ** 18;
/** Variance that is assumed at least for each token, for greedy chats. */
const MIN_VARIANCE = 1e-4;
/** Temperature of another text of the model, relative to the chat's temperature and to 1. */
const HEAT = 1.5;
/** Share of such tokens in the text of a liar without the model; the others are any tokens. */
const HEATED_SHARE = 0.5;
/** Share of wrong tokens in the answer of a liar that changes little. */
const CHANGED_SHARE = 0.05;

/** What a reading says about an answer. */
export interface Score {
  /**
   * Surplus of surprise in standard deviations. Its tail is not that of a normal variable: in an answer of certain
   * tokens, one of probability 0.001 gives 30.
   */
  readonly z: number;
  /** Log likelihood ratio of a false text to an honest answer. */
  readonly falseText: number;
  /** Log likelihood ratio of an honest answer with some wrong tokens to one without. */
  readonly changedText: number;
}

/**
 * Compares the tokens of a reading with the distributions from which the chat's parameters sample. The expected
 * likelihood ratio of an honest answer is at most 1, so exp(-x) bounds the probability of a ratio above exp(x) (Ville's
 * inequality; Ramdas et al., "Game-theoretic statistics and safe anytime-valid inference", 2023).
 */
export function scoreReading({ positions, tokens }: ChatReading, chat: Sampling, hasEnd: boolean): Score {
  let [surplus, variance, falseText, changedText] = [0, 0, 0, 0];
  for (const position of positions) {
    const { index, logprob, top } = position;
    const sampled = sampledOf(top, chat);
    if (!isBeyondList(position, sampled)) {
      surplus += -logprob - sampled.mean;
      variance += Math.max(MIN_VARIANCE, sampled.variance);
    }
    const honest = honestLogprob(position, sampled);
    if (hasEnd && index === tokens - 1) {
      falseText += Math.log(endShare(tokens)) - honest;
      continue;
    }
    const any = anyLogprob(position);
    falseText += mixed(heatedLogprob(position, chat), any, HEATED_SHARE) - honest;
    changedText += mixed(any, honest, CHANGED_SHARE) - honest;
  }
  return { z: variance === 0 ? 0 : surplus / Math.sqrt(variance), falseText, changedText };
}

/** Returns whether the token is not listed and may have been sampled. Mean and variance are those of listed tokens. */
function isBeyondList({ token, top }: Position, { isOpen }: Sampled): boolean {
  return isOpen && !top.some(([each]) => each === token);
}

interface Sampled {
  readonly temperature: number;
  /** Tokens that may be kept, and all tokens beyond the list if `isOpen`. */
  readonly kept: ReadonlySet<number>;
  readonly isOpen: boolean;
  /** Logarithm of the sum of the kept tokens' weights. */
  readonly logSum: number;
  /** Mean and variance of the kept tokens' surprise (negative log probability). */
  readonly mean: number;
  readonly variance: number;
}

/**
 * Returns what the llmcpp host samples from the listed tokens: top_k, top_p and min_p of the model's probabilities, in
 * this order, then the temperature. If tokens beyond the list may be sampled, mean and variance are those of the listed
 * ones.
 */
function sampledOf(top: Position["top"], chat: Sampling): Sampled {
  const temperature = Math.max(MIN_TEMPERATURE, chat.temperature);
  const topK = chat.topK === null ? DEFAULT_TOP_K : chat.topK || Infinity;
  const topP = chat.topP ?? DEFAULT_TOP_P;
  const minLogprob = (top[0]?.[1] ?? 0) + Math.log(chat.minP ?? 0);
  const sum = top.slice(0, topK).reduce((total, [, logprob]) => total + Math.exp(logprob), 0);
  // top_p counts from the tokens that top_k has kept, and without top_k from all tokens.
  const whole = topK <= top.length ? sum : Math.max(1, sum);
  let count = 0;
  for (let before = 0; count < Math.min(topK, top.length); count += 1) {
    const logprob = top[count]?.[1] ?? 0;
    if (count > 0 && ((topP < 1 && before >= topP * whole) || logprob < minLogprob)) break;
    before += Math.exp(logprob);
  }
  const last = top[count - 1]?.[1] ?? 0;
  const logprobs = top.slice(0, count).map(([, logprob]) => logprob);
  const logSum = logSumExp(logprobs.map((logprob) => logprob / temperature));
  let [mean, square] = [0, 0];
  for (const logprob of logprobs) {
    const share = Math.exp(logprob / temperature - logSum);
    mean += share * logprob;
    square += share * logprob * logprob;
  }
  // The sum of top_p may end one token later on another machine.
  const kept = top.filter(([, logprob], rank) => rank <= count || logprob >= last - BORDER_NATS);
  return {
    temperature,
    kept: new Set(kept.map(([token]) => token)),
    isOpen: count === top.length && topK > count,
    logSum,
    mean: -mean,
    variance: Math.max(0, square - mean * mean),
  };
}

/**
 * Returns an upper bound of the log probability of an honest token. Tokens beyond the list are left out of the sum of
 * weights, which can only raise it.
 */
function honestLogprob({ token, logprob }: Position, { temperature, kept, isOpen, logSum }: Sampled): number {
  if (!kept.has(token) && !isOpen) return Math.log(NOISE) + logprob;
  return mixed(logprob, Math.min(0, logprob / temperature - logSum), NOISE);
}

/** Returns the log probability of a token in another text of the model. */
function heatedLogprob({ token, logprob, top }: Position, chat: Sampling): number {
  if (!top.some(([each]) => each === token)) return -Infinity;
  const temperature = HEAT * Math.max(1, chat.temperature);
  return logprob / temperature - logSumExp(top.map(([, each]) => each / temperature));
}

/** Returns the log probability of a token that is drawn from the listed tokens or from the vocabulary. */
function anyLogprob({ token, top }: Position): number {
  const isListed = top.some(([each]) => each === token);
  return Math.log((isListed ? 1 / top.length : 0) / 2 + 1 / VOCABULARY / 2);
}

/**
 * Returns the share of false texts that end after this number of tokens. The shares of all lengths sum to 1, because
 * an honest end is only read where the answer ends.
 */
function endShare(tokens: number): number {
  return 1 / (tokens * (tokens + 1));
}

/** Returns the logarithm of a mixture of two probabilities. @param share weight of the first one */
function mixed(first: number, second: number, share: number): number {
  return logSumExp([Math.log(share) + first, Math.log(1 - share) + second]);
}

function logSumExp(values: readonly number[]): number {
  const max = Math.max(...values);
  return max + Math.log(values.reduce((sum, each) => sum + Math.exp(each - max), 0));
}

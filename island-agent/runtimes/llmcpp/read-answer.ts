import type { ControlledEvaluateInputItem, LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";
import {
  type ChatRead,
  type ChatReading,
  MAX_READ_TOP,
  MIN_READ_LOGPROB,
  readPositionsOf,
} from "../../../shared/chat-reading.ts";
import type { BatchLoop } from "./batch-loop.ts";
import type { LogitReader, TokenLogits } from "./logit-reader.ts";

/** Number of preceding tokens that a token's text may depend on, as in `generate-text.ts`. */
const PRECEDING_TOKENS = 3;
/** Decimals of a log probability. */
const PRECISION = 10_000;

/** An answer as tokens. */
export interface AnswerTokens {
  readonly prompt: readonly Token[];
  readonly answer: readonly Token[];
  /** Tokens of which one follows the answer, the usual one first; empty if the model did not end it. */
  readonly ends: readonly Token[];
}

/** Returns the number of an answer's tokens, with its end token. */
export function countTokens({ answer, ends }: AnswerTokens): number {
  return answer.length + Math.min(1, ends.length);
}

/**
 * Returns the tokens of a text after a prompt. Some tokenizers add a space before the first word. It is kept only if
 * the text begins with it.
 */
export function tokenizeAnswer(model: LlamaModel, text: string, prompt: readonly Token[]): Token[] {
  const bare = model.tokenize(text, false, "trimLeadingSpace");
  const usual = model.tokenize(text, false);
  const before = prompt.slice(-PRECEDING_TOKENS);
  return model.detokenize(usual, false, before) === text ? usual : bare;
}

interface AnswerReading {
  /** A sequence without tokens. */
  readonly sequence: LlamaContextSequence;
  /** Id of the sequence in the loop. */
  readonly id: number;
  readonly loop: Pick<BatchLoop, "followers">;
  readonly reader: Pick<LogitReader, "read">;
  readonly tokens: AnswerTokens;
}

/**
 * Evaluates a prompt and an answer to it as one prompt, and reads the model's probabilities before some tokens of the
 * answer. Generates nothing. Only these positions have results, because a result takes 4 bytes for each token of the
 * vocabulary and llama.cpp sorts the vocabulary to read it.
 */
export async function readAnswer(
  { sequence, id, loop, reader, tokens }: AnswerReading,
  read: Pick<ChatRead, "at">,
  signal: AbortSignal,
): Promise<ChatReading> {
  const { prompt, answer, ends } = tokens;
  const total = countTokens(tokens);
  const indexes = readPositionsOf(read, total);
  const positions: ChatReading["positions"] = [];
  // Results arrive in the order of their positions.
  loop.followers.set(id, async (batchIndex, sampled) => {
    // Two threads must not read at the same time (`batch-loop.ts`).
    await sampled;
    const index = indexes[positions.length] as number;
    const token = answer[index];
    const logits = await (token === undefined
      ? readEnd(reader, batchIndex, ends)
      : reader.read(batchIndex, token, MAX_READ_TOP));
    positions.push({ index, ...described(logits) });
    return logits.token;
  });
  try {
    // The distribution of a token is the result of the token before it. The last token is not evaluated.
    const wanted = new Set(indexes.map((index) => prompt.length - 1 + index));
    const input = [...prompt, ...answer].slice(0, prompt.length + total - 1);
    await sequence.controlledEvaluate(input.map((token, at) => (wanted.has(at) ? withResult(token) : token)));
    signal.throwIfAborted();
  } finally {
    loop.followers.delete(id);
  }
  return { prompt_tokens: prompt.length, tokens: total, positions };
}

/** The library also samples the most probable token, which is not used. */
function withResult(token: Token): ControlledEvaluateInputItem {
  return [token, { generateNext: { token: true, options: { temperature: 0 } } }];
}

/** Reads the probability of the end token. If the model has several, reads the most probable one. */
async function readEnd(
  reader: Pick<LogitReader, "read">,
  batchIndex: number,
  ends: readonly Token[],
): Promise<TokenLogits> {
  const usual = await reader.read(batchIndex, ends[0] as Token, MAX_READ_TOP);
  const best = usual.top.find(({ token }) => ends.includes(token));
  return best !== undefined && best.logprob > usual.logprob ? { ...best, top: usual.top } : usual;
}

function described({ token, logprob, top }: TokenLogits): Omit<ChatReading["positions"][number], "index"> {
  const probable = top.filter((each, rank) => rank === 0 || each.logprob >= MIN_READ_LOGPROB);
  return {
    token,
    logprob: rounded(logprob),
    top: probable.map((each): [number, number] => [each.token, rounded(each.logprob)]),
  };
}

/** Rounds a log probability. The sum avoids a negative zero. */
function rounded(logprob: number): number {
  return Math.round(logprob * PRECISION) / PRECISION + 0;
}

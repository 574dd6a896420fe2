import type { ChatRequest } from "../../../shared/chat-input.ts";
import {
  type ChatRead,
  type ChatReading,
  MAX_READ_TOP,
  MIN_READ_LOGPROB,
  readPositionsOf,
} from "../../../shared/chat-reading.ts";

/*
 * A language model without weights: a hash of the last two tokens, and at some positions of the prompt, selects how
 * probable each token is. It generates and reads as an Island with llama.cpp does, a thousand times as fast.
 */

/** Words of the vocabulary. A prime number, so that `add + rank * factor` visits each word once. */
const WORDS = 401;
const END = WORDS;
const FIRST_BYTE = END + 1;
/** The first words of the vocabulary are numbers, and the next ones end a sentence. */
const NUMBERS = 20;
const SENTENCE_ENDS = 40;
/** Probability of the end token in a sentence, and of each single byte. */
const END_INSIDE = 5e-7;
const BYTE = 4e-9;
/** Share of positions at which the prompt matters: of the first ones, and of later ones. */
const EARLY = 4;
const EARLY_SHARE = 0.4;
const LATER_SHARE = 0.12;
/** Forms of the distribution: Zipf's law with exponents from the least to the most certain one. */
const FORMS = 64;
const MIN_EXPONENT = 1.6;
const MORE_EXPONENT = 5;
/** Share of the probability that all words have equally. */
const ANY_WORD = 2e-4;
const DEFAULT_TOP_K = 40;
const DEFAULT_TOP_P = 0.95;
const MIN_LOGPROB = -9_999;
const PROMPT_TEMPLATE_TOKENS = 12;

export type Sampling = Pick<ChatRequest, "temperature" | "topP" | "topK" | "minP">;

export interface Written {
  readonly text: string;
  /** The text of each token. */
  readonly pieces: readonly string[];
  /** Whether the model ended the answer, and not the limit of tokens. */
  readonly hasEnd: boolean;
}

const SYLLABLES = ["ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "we", "xa", "yo", "zi", "be", "du", "fe"];

function wordOf(id: number): string {
  if (id < NUMBERS) return String(id);
  const [first, second] = [id % SYLLABLES.length, Math.floor(id / SYLLABLES.length)];
  const word = `${SYLLABLES[first] ?? ""}${SYLLABLES[second % SYLLABLES.length] ?? ""}${second < SYLLABLES.length ? "" : "n"}`;
  return id < NUMBERS + SENTENCE_ENDS ? `${word}.` : word;
}

/** The words of the vocabulary, from which liars without the model make texts. */
export const VOCABULARY: readonly string[] = Array.from({ length: WORDS }, (_, id) => wordOf(id));
const ID_OF = new Map(VOCABULARY.map((word, id) => [word, id]));

/** Probabilities of each form, by rank. */
const PROBABILITIES: readonly Float64Array[] = Array.from({ length: FORMS }, (_, form) => {
  const exponent = MIN_EXPONENT + MORE_EXPONENT * (form / (FORMS - 1)) ** 1.5;
  const weights = Float64Array.from({ length: WORDS }, (__, rank) => (rank + 1) ** -exponent);
  const sum = weights.reduce((total, each) => total + each, 0);
  return weights.map((each) => ((1 - ANY_WORD) * each) / sum + ANY_WORD / WORDS);
});
const INVERSES: readonly number[] = Array.from({ length: WORDS }, (_, factor) => {
  for (let inverse = 1; inverse < WORDS; inverse += 1) if ((factor * inverse) % WORDS === 1) return inverse;
  return 0;
});

/** The distribution of the next token. */
interface Next {
  readonly probabilities: Float64Array;
  readonly factor: number;
  readonly add: number;
  readonly end: number;
}

function mix(a: number, b: number): number {
  let mixed = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

function hashOf(text: string): number {
  let hash = 17;
  for (let at = 0; at < text.length; at += 1) hash = mix(hash, text.charCodeAt(at));
  return hash;
}

const shareOf = (hash: number): number => hash / 2 ** 32;
const endsSentence = (token: number): boolean => token >= NUMBERS && token < NUMBERS + SENTENCE_ENDS;

/** Returns the distribution after the tokens of an answer. @param prompt hash of the prompt */
function nextOf(prompt: number, index: number, last: number, lastButOne: number): Next {
  const local = mix(last, lastButOne);
  const share = index === 0 ? 1 : index < EARLY ? EARLY_SHARE : LATER_SHARE;
  const context = shareOf(mix(local, 1)) < share ? mix(mix(prompt, local), index) : local;
  const maysEnd = shareOf(mix(mix(prompt, index), 2));
  return {
    probabilities: PROBABILITIES[mix(context, 3) % FORMS] as Float64Array,
    factor: 1 + (mix(context, 4) % (WORDS - 1)),
    add: mix(context, 5) % WORDS,
    end: endsSentence(last) ? (maysEnd < 0.3 ? 0.9 : 0.15 * maysEnd) : END_INSIDE,
  };
}

const wordShare = ({ end }: Next): number => 1 - end - 256 * BYTE;
const tokenAt = ({ factor, add }: Next, rank: number): number => (add + rank * factor) % WORDS;

function probabilityOf(next: Next, token: number): number {
  if (token === END) return next.end;
  if (token > END) return BYTE;
  const rank = (((token - next.add + WORDS) % WORDS) * (INVERSES[next.factor] ?? 0)) % WORDS;
  return (next.probabilities[rank] ?? 0) * wordShare(next);
}

/** Calls `take` with each token and its probability, the most probable first, until it returns false. */
function eachToken(next: Next, take: (token: number, probability: number) => boolean): void {
  const share = wordShare(next);
  let isEndTaken = false;
  for (let rank = 0; rank < WORDS; rank += 1) {
    const probability = (next.probabilities[rank] ?? 0) * share;
    if (!isEndTaken && next.end >= probability) {
      isEndTaken = true;
      if (!take(END, next.end)) return;
    }
    if (!take(tokenAt(next, rank), probability)) return;
  }
}

/** Samples as llama.cpp does: top_k, then top_p of the rest, min_p relative to the best token, and the temperature. */
function sample(next: Next, { temperature, topK, topP, minP }: Sampling, random: () => number): number {
  const most = topK === null ? DEFAULT_TOP_K : topK || Infinity;
  const tokens: number[] = [];
  const probabilities: number[] = [];
  eachToken(next, (token, probability) => {
    tokens.push(token);
    probabilities.push(probability);
    return temperature > 0 && tokens.length < most;
  });
  if (temperature === 0) return tokens[0] ?? 0;
  const whole = probabilities.reduce((sum, each) => sum + each, 0);
  const least = (probabilities[0] ?? 0) * (minP ?? 0);
  let [count, before] = [0, 0];
  for (; count < tokens.length; count += 1) {
    const probability = probabilities[count] ?? 0;
    if (count > 0 && (before >= (topP ?? DEFAULT_TOP_P) * whole || probability < least)) break;
    before += probability;
  }
  const weights = probabilities.slice(0, count).map((each) => each ** (1 / temperature));
  let left = random() * weights.reduce((sum, each) => sum + each, 0);
  for (let at = 0; at < count; at += 1) {
    left -= weights[at] ?? 0;
    if (left < 0) return tokens[at] ?? 0;
  }
  return tokens[0] ?? 0;
}

/** Generates an answer of at most `maxTokens` tokens, the end included. */
export function write(prompt: string, sampling: Sampling, maxTokens: number, random: () => number): Written {
  const hash = hashOf(prompt);
  const pieces: string[] = [];
  let [last, lastButOne] = [-1, -1];
  while (pieces.length < maxTokens) {
    const token = sample(nextOf(hash, pieces.length, last, lastButOne), sampling, random);
    if (token === END) return { text: pieces.join(""), pieces, hasEnd: true };
    pieces.push(`${pieces.length === 0 ? "" : " "}${VOCABULARY[token] ?? ""}`);
    [last, lastButOne] = [token, last];
  }
  return { text: pieces.join(""), pieces, hasEnd: false };
}

/** Returns the tokens of a text: a word with the space before it, or its bytes if it is unknown. */
export function tokenize(text: string): number[] {
  return ` ${text}`.split(/(?= )/).flatMap((word) => {
    const id = ID_OF.get(word.slice(1));
    return id === undefined ? [...Buffer.from(word)].map((byte) => FIRST_BYTE + byte) : [id];
  });
}

export const promptTokensOf = (prompt: string): number => PROMPT_TEMPLATE_TOKENS + prompt.split(" ").length;

/** Reads an answer, as an honest Island does. */
export function readAnswer(prompt: string, read: ChatRead): ChatReading {
  const hash = hashOf(prompt);
  const tokens = [...(read.text === "" ? [] : tokenize(read.text)), ...(read.has_end ? [END] : [])];
  const positions = readPositionsOf(read, tokens.length).map((index) => {
    const token = tokens[index] ?? END;
    const next = nextOf(hash, index, tokens[index - 1] ?? -1, tokens[index - 2] ?? -1);
    const top: [number, number][] = [];
    eachToken(next, (each, probability) => {
      const logprob = rounded(probability);
      if (logprob >= MIN_READ_LOGPROB) top.push([each, logprob]);
      return top.length < MAX_READ_TOP && logprob >= MIN_READ_LOGPROB;
    });
    return { index, token, logprob: rounded(probabilityOf(next, token)), top };
  });
  return { prompt_tokens: promptTokensOf(prompt), tokens: tokens.length, positions };
}

function rounded(probability: number): number {
  return Math.max(MIN_LOGPROB, Math.round(Math.log(probability) * 10_000) / 10_000);
}

/** Returns the mean entropy of the forms, in nats. */
export function meanEntropy(): number {
  const entropies = PROBABILITIES.map((form) => form.reduce((sum, each) => sum - each * Math.log(each), 0));
  return entropies.reduce((sum, each) => sum + each, 0) / FORMS;
}

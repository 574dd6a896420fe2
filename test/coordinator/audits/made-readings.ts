import { type ChatRequest, chatRequestOf } from "../../../shared/chat-input.ts";
import { type ChatReading, MAX_READ_TOP, MIN_READ_LOGPROB } from "../../../shared/chat-reading.ts";

/** A generator of numbers from 0 to below 1 with a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function makeChat(input: Partial<Parameters<typeof chatRequestOf>[0]> = {}): ChatRequest {
  return chatRequestOf({ prompt: "Hello", ...input });
}

type Weights = readonly (readonly [token: number, probability: number])[];

/** Distributions over a vocabulary of 100 tokens, best first: some are certain, others nearly uniform. */
const DISTRIBUTIONS: readonly Weights[] = Array.from({ length: 300 }, (_, nth) => makeDistribution(seededRandom(nth)));

function makeDistribution(random: () => number): Weights {
  const sharpness = 0.2 + 12 * random() ** 2;
  const scores = Array.from({ length: 100 }, () => Math.exp(sharpness * Math.log(random() + 1e-9)));
  const sum = scores.reduce((total, each) => total + each, 0);
  return scores.map((each, token) => [token, each / sum] as const).toSorted(([, a], [, b]) => b - a);
}

/** Samples as llama.cpp does: top_k, then top_p of the rest, min_p relative to the best token, and the temperature. */
export function sampleToken(weights: Weights, chat: ChatRequest, random: () => number): number {
  const { temperature, topK, topP, minP } = chat;
  let kept = weights.slice(0, topK === null ? 40 : topK || Infinity);
  const sum = kept.reduce((total, [, each]) => total + each, 0);
  let cumulative = 0;
  kept = kept.filter(([, each]) => {
    const isKept = cumulative < (topP ?? 0.95) * sum;
    cumulative += each;
    return isKept || (topP ?? 0.95) >= 1;
  });
  kept = kept.filter(([, each]) => each >= (minP ?? 0) * (kept[0]?.[1] ?? 0));
  if (temperature === 0) return kept[0]?.[0] ?? 0;
  const heated = kept.map(([token, each]) => [token, each ** (1 / temperature)] as const);
  let left = random() * heated.reduce((total, [, each]) => total + each, 0);
  return (heated.find(([, each]) => (left -= each) < 0) ?? heated[0])?.[0] ?? 0;
}

type Choose = (weights: Weights, random: () => number) => number;

/** Returns the reading of an answer without an end, in which `choose` decides each token. */
export function makeReading(random: () => number, choose: Choose, tokens = 20): ChatReading {
  const positions = Array.from({ length: tokens }, (_, index) => {
    const weights = DISTRIBUTIONS[Math.floor(random() * DISTRIBUTIONS.length)] ?? [];
    const token = choose(weights, random);
    const logprob = rounded(weights.find(([id]) => id === token)?.[1] ?? 0);
    const top = weights
      .slice(0, MAX_READ_TOP)
      .map(([id, each]): [number, number] => [id, rounded(each)])
      .filter(([, each]) => each >= MIN_READ_LOGPROB);
    return { index, token, logprob, top };
  });
  return { prompt_tokens: 10, tokens, positions };
}

function rounded(probability: number): number {
  return Math.max(-9_999, Math.round(Math.log(probability) * 10_000) / 10_000);
}

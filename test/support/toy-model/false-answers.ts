import { type Sampling, tokenize, VOCABULARY, write, type Written } from "./toy-model.ts";

/** What a liar knows when it answers. */
export interface Asked {
  readonly prompt: string;
  readonly sampling: Sampling;
  readonly maxTokens: number;
  readonly random: () => number;
  /** An answer of the model to another prompt. */
  readonly otherAnswer: Written;
}

/** Makes a false answer; null if it would be the honest one. */
export type Lie = (asked: Asked) => Written | null;

export const honestAnswer = ({ prompt, sampling, maxTokens, random }: Omit<Asked, "otherAnswer">): Written =>
  write(prompt, sampling, maxTokens, random);

/** Texts of Islands without the model, and changed texts of Islands with it. Each pretends that the model ended it. */
export const LIES = {
  "one character": () => ended("a"),
  "one no-break space": () => ended("\u00A0"),
  "two tokens": (asked) => firstWords(honestAnswer(asked), 2),
  "first three words": (asked) => firstWords(honestAnswer(asked), 3),
  "canned text": () => ended(CANNED),
  "echo of the prompt": ({ prompt }) => ended(prompt),
  "replay of another answer": ({ otherAnswer }) => otherAnswer,
  "random words": ({ random }) => ended(randomWords(random)),
  "a wrong number": (asked) => withWrongNumber(honestAnswer(asked)),
} as const satisfies Readonly<Record<string, Lie>>;

const CANNED = Array.from({ length: 14 }, (_, nth) => VOCABULARY[(61 + 37 * nth) % VOCABULARY.length]).join(" ");
const RANDOM_WORDS = 24;

function ended(text: string): Written {
  return { text, pieces: text.split(/(?= )/), hasEnd: true };
}

/** Null for an answer that has no more words. */
function firstWords({ pieces }: Written, count: number): Written | null {
  return pieces.length <= count ? null : ended(pieces.slice(0, count).join(""));
}

function randomWords(random: () => number): string {
  const word = (): string => VOCABULARY[Math.floor(random() * VOCABULARY.length)] ?? "";
  return Array.from({ length: RANDOM_WORDS }, word).join(" ");
}

function withWrongNumber({ text, hasEnd }: Written): Written | null {
  if (!/\d/.test(text)) return null;
  const changed = text.replace(/\d+/, (digits) => String((Number(digits) + 3) % 20));
  return { text: changed, pieces: changed.split(/(?= )/), hasEnd };
}

export const tokensOf = ({ text }: Written): number => tokenize(text).length;

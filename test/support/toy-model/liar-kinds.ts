import type { ChatRead, ChatReading } from "../../../shared/chat-reading.ts";
import type { LIES } from "./false-answers.ts";
import { readAnswer } from "./toy-model.ts";

/** How an Island behaves that lies all the time, or from some time on. */
export interface LiarKind {
  readonly name: string;
  /** The lie in its answers; null: it answers honestly. */
  readonly lie: keyof typeof LIES | null;
  /** Whether it answers at once, and not at the pace of the model. */
  readonly isFast: boolean;
  /** Whether it is honest until it is proven. */
  readonly turnsAfterProven?: true;
  /** Whether it opens another account after each quarantine. */
  readonly renames?: true;
  readonly read: (prompt: string, read: ChatRead) => ChatReading;
}

const made = (name: string, lie: LiarKind["lie"], isFast: boolean, more: Partial<LiarKind> = {}): LiarKind => ({
  name,
  lie,
  isFast,
  read: confirm,
  ...more,
});

export const KINDS = {
  honest: made("honest", null, false, { read: readAnswer }),
  oneCharacter: made("one character", "one character", true),
  noBreakSpace: made("one no-break space", "one no-break space", true),
  twoTokens: made("two tokens", "two tokens", true),
  threeWords: made("first three words", "first three words", true),
  canned: made("canned text", "canned text", true),
  echo: made("echo of the prompt", "echo of the prompt", true),
  replay: made("replay of another answer", "replay of another answer", true),
  fastWords: made("random words, fast", "random words", true),
  slowWords: made("random words, slow", "random words", false),
  wrongNumber: made("a wrong number", "a wrong number", false),
  turning: made("honest until proven", "random words", false, { turnsAfterProven: true }),
  renaming: made("new identity after each loss", "canned text", true, { renames: true }),
  accusing: made("a reader that accuses", null, false, { read: accuse }),
  confirming: made("a reader that confirms", null, false, { read: confirm }),
} as const satisfies Readonly<Record<string, LiarKind>>;

const SURE = Math.log(0.9);
const UNSURE = Math.log(0.1);
const IMPROBABLE = -21;
const UNKNOWN_TOKEN = 9_999_999;

/** Invents a reading in which each token is probable. The tokens are right, because a tokenizer is cheap. */
function confirm(prompt: string, read: ChatRead): ChatReading {
  const reading = readAnswer(prompt, read);
  const positions = reading.positions.map(({ index, token }) => {
    const top: [number, number][] = [
      [token, SURE],
      [token === 0 ? 1 : 0, UNSURE],
    ];
    return { index, token, logprob: SURE, top };
  });
  return { ...reading, positions };
}

/** Reads honestly, and then says that each token is improbable. */
function accuse(prompt: string, read: ChatRead): ChatReading {
  const reading = readAnswer(prompt, read);
  const positions = reading.positions.map((each) => ({ ...each, token: UNKNOWN_TOKEN, logprob: IMPROBABLE }));
  return { ...reading, positions };
}

import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import { LIES, tokensOf } from "../../test/support/toy-model/false-answers.ts";
import { promptTokensOf, write, type Written } from "../../test/support/toy-model/toy-model.ts";
import { seeded } from "../fleet/fleets.ts";
import { makeOwners, MAX_TOKENS, OUTPUT_WORK, promptOf, type Owner, type SimulationOptions } from "./simulation.ts";

/** Most answers to a job of which no two are equal. It has no result then. */
const MAX_ANSWERS = 5;

export interface UncheckedResult {
  readonly jobs: number;
  readonly wrongFinal: number;
  readonly withoutResult: number;
  /** Work relative to one answer for each job. */
  readonly compute: number;
}

/**
 * Answers all jobs with random Islands.
 * @param quorum equal answers of different owners that make a result. Honest answers to a job are equal, as with a fixed seed
 */
export function runUnchecked(options: SimulationOptions, quorum: number): UncheckedResult {
  const random = seeded(options.seed);
  const islands = makeOwners(options, random).flatMap((owner) => owner.islands);
  let [wrongFinal, withoutResult, work, firstWork] = [0, 0, 0, 0];
  for (let nth = 1; nth <= options.jobs; nth += 1) {
    const prompt = promptOf(nth, random);
    const counts = new Map<string, number>();
    const asked = new Set<Owner>();
    let [isWrong, isDone] = [false, false];
    while (!isDone && asked.size < MAX_ANSWERS) {
      const owner = islands[Math.floor(random() * islands.length)]?.owner as Owner;
      if (asked.has(owner)) continue;
      const { written, isFalse } = answerOf(owner, prompt, nth, random);
      const cost = promptTokensOf(prompt) + OUTPUT_WORK * tokensOf(written);
      if (asked.size === 0) firstWork += cost;
      asked.add(owner);
      work += cost;
      const count = (counts.get(written.text) ?? 0) + 1;
      counts.set(written.text, count);
      isDone = count >= quorum;
      isWrong = isFalse;
    }
    if (!isDone) withoutResult += 1;
    else if (isWrong) wrongFinal += 1;
  }
  return { jobs: options.jobs, wrongFinal, withoutResult, compute: work / firstWork };
}

function answerOf(
  { kind }: Owner,
  prompt: string,
  nth: number,
  random: () => number,
): { written: Written; isFalse: boolean } {
  const sampling = chatRequestOf(chatInputSchema.parse({ prompt }));
  const asked = {
    prompt,
    sampling,
    maxTokens: MAX_TOKENS,
    random: seeded(nth),
    get otherAnswer() {
      return write(`Another prompt ${Math.floor(random() * 1_000)}`, sampling, MAX_TOKENS, random);
    },
  };
  // Random words differ, and other lies follow from the answer.
  const lie =
    kind === null || kind.lie === null
      ? null
      : LIES[kind.lie](kind.lie === "random words" ? { ...asked, random } : asked);
  return { written: lie ?? write(prompt, sampling, MAX_TOKENS, seeded(nth)), isFalse: lie !== null };
}

import type { Waiting } from "./explain.ts";
import type { WorkKind } from "./slot-offer.ts";

/** What other coordinators said last of a kind of work. */
export interface Elsewhere {
  /** Those that were heard. */
  readonly peers: number;
  /** Of those, the ones with Islands that run it. */
  readonly running: number;
  /** Slots, free or not, of those Islands. */
  readonly slots: number;
  /** Free slots at those coordinators, whatever they run. */
  readonly free: number;
}

/** What other coordinators have for a kind of work; null without any. */
export type AskElsewhere = (kind: WorkKind) => Elsewhere | null;

/** What is the matter with the Islands of one coordinator only, when others have some that run the job. */
const OF_THIS_ONE: readonly Waiting["reason"][] = [
  "own_islands_only",
  "no_island_online",
  "no_island_offers_runtime",
  "no_island_fits",
  "all_refused",
  "all_failing",
];

/** The reason of a job that waits at its coordinator, with what is known of the others. */
export function reasonElsewhere(reason: Waiting["reason"], others: Elsewhere | null): Waiting["reason"] {
  return others !== null && others.running > 0 && OF_THIS_ONE.includes(reason) ? "all_busy" : reason;
}

/** Adds to why a job waits at its coordinator what is known of the others. */
export function explainElsewhere(waiting: Waiting, others: Elsewhere): Waiting {
  const { peers, running, slots, free } = others;
  if (peers === 0) return waiting;
  const here = `at the job's coordinator: ${waiting.message}`;
  if (running === 0) {
    const who = peers === 1 ? "the other one has" : `the ${peers} others have`;
    return { ...waiting, message: `${here}; ${who} no Island that is known to run it` };
  }
  const who = `${running} of ${peers} ${peers === 1 ? "other" : "others"} ${running === 1 ? "runs" : "run"} it`;
  const state = `${slots === 1 ? "1 slot" : `${slots} slots`}, ${free === 0 ? "all busy" : "asked now"}`;
  const reason = reasonElsewhere(waiting.reason, others);
  return { ...waiting, reason, message: `${here}; ${who} (${state})` };
}

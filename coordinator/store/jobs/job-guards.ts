import {
  isTerminal,
  JOB_STATES,
  nextState,
  statesAllowing,
  type JobEvent,
  type JobState,
} from "../../../shared/job-state.ts";

/**
 * The states of unfinished jobs, as an SQL list: for statements that have the ids. A condition on `completed_at_ms` would offer the
 * indexes of unfinished jobs too, and a plan that was made while there were few may read all jobs of an owner.
 */
export const UNFINISHED: string = JOB_STATES.filter((state) => !isTerminal(state))
  .map((state) => `'${state}'`)
  .join(", ");

/** For the UPDATE of an event, or of several at once: the states that allow it, as an SQL list, and the state that it leads to. */
export function guardOf(
  first: JobEvent,
  ...others: readonly JobEvent[]
): { readonly from: string; readonly to: JobState } {
  const states = statesAllowing(first);
  const targets = new Set(states.map((state) => others.reduce(nextState, nextState(state, first))));
  const [to] = targets;
  // One UPDATE has one target state.
  if (to === undefined || targets.size > 1) throw new Error(`Event ${first} leads to ${targets.size} states`);
  return { from: states.map((state) => `'${state}'`).join(", "), to };
}

/** Ended jobs that the indexes of ended jobs have, as a term of their queries. */
export const LISTED = "completed_at_ms IS NOT NULL AND is_unlisted = 0";
/** Jobs that ended lately: about as many as are listed together, of all accounts. The index `jobs_unlisted` has them. */
export const UNLISTED = "is_unlisted = 1";

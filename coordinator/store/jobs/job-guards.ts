import {
  isTerminal,
  JOB_STATES,
  nextState,
  statesAllowing,
  type JobEvent,
  type JobState,
} from "../../../shared/job-state.ts";

/**
 * States of unfinished jobs as an SQL list, for statements that select by id. With a condition on `completed_at_ms`
 * PostgreSQL may use an index of unfinished jobs, and a plan cached while there were few may read all jobs of an owner.
 */
export const UNFINISHED = sqlListOf(JOB_STATES.filter((state) => !isTerminal(state)));

/** Returns the guard of an UPDATE for events in sequence: allowed states as an SQL list, and the resulting state. */
export function guardOf(
  first: JobEvent,
  ...others: readonly JobEvent[]
): { readonly from: string; readonly to: JobState } {
  const states = statesAllowing(first);
  const targets = new Set(states.map((state) => others.reduce(nextState, nextState(state, first))));
  const [to] = targets;
  if (to === undefined || targets.size > 1)
    throw new Error(`Event ${first} must lead to one state, got ${targets.size}`);
  return { from: sqlListOf(states), to };
}

export function sqlListOf(states: readonly JobState[]): string {
  return states.map((state) => `'${state}'`).join(", ");
}

/** SQL condition for ended jobs that the indexes of ended jobs contain. */
export const LISTED = "completed_at_ms IS NOT NULL AND is_unlisted = 0";
/** SQL condition for recently ended jobs, which only the index `jobs_unlisted` contains, across all accounts. */
export const UNLISTED = "is_unlisted = 1";

import { nextState, statesAllowing, type JobEvent, type JobState } from "../../shared/job-state.ts";

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

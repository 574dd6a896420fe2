/** Job states. Source: spec §3. ("submitted" is a label of the submit response, not a state.) */
export const JOB_STATES = ["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"] as const;
export type JobState = (typeof JOB_STATES)[number];

/**
 * Events of a job. `assign`: the coordinator sent the job to an Island. `start`: the Island reported that the job runs.
 * `lose`: the Island is lost or returned the job, and another attempt follows. `regain`: the lost Island returned with
 * the attempt before another attempt started. `expire`: the wait or run limit passed.
 */
export const JOB_EVENTS = ["assign", "start", "complete", "fail", "cancel", "expire", "lose", "regain"] as const;
export type JobEvent = (typeof JOB_EVENTS)[number];
/** Events that end a job. */
export type EndEvent = Extract<JobEvent, "complete" | "fail" | "cancel" | "expire">;

/** All legal transitions. Spec §3 names the states; decision 0007 explains `lose` and `regain`. */
export const JOB_TRANSITIONS = {
  pending: { assign: "queued", regain: "queued", fail: "failed", cancel: "cancelled", expire: "timeout" },
  queued: { start: "running", fail: "failed", cancel: "cancelled", expire: "timeout", lose: "pending" },
  running: { complete: "completed", fail: "failed", cancel: "cancelled", expire: "timeout", lose: "pending" },
  completed: {},
  failed: {},
  cancelled: {},
  timeout: {},
} as const satisfies Record<JobState, Partial<Record<JobEvent, JobState>>>;

/** Error for an event that is illegal in the job's state. The state does not change. */
export class IllegalTransitionError extends Error {
  override readonly name = "IllegalTransitionError";
  readonly from: JobState;
  readonly event: JobEvent;
  constructor(from: JobState, event: JobEvent) {
    super(`Event "${event}" is not allowed for a ${from} job`);
    this.from = from;
    this.event = event;
  }
}

/** Returns the state after an event. @throws {IllegalTransitionError} */
export function nextState(from: JobState, event: JobEvent): JobState {
  const row: Partial<Record<JobEvent, JobState>> = JOB_TRANSITIONS[from];
  const to = row[event];
  if (to === undefined) throw new IllegalTransitionError(from, event);
  return to;
}

/** Returns the states in which `event` is legal; SQL updates use them as a guard. */
export function statesAllowing(event: JobEvent): JobState[] {
  return JOB_STATES.filter((state) => event in JOB_TRANSITIONS[state]);
}

/** Computed once, because it is read three times per token. */
const TERMINAL: ReadonlySet<JobState> = new Set(
  JOB_STATES.filter((state) => Object.keys(JOB_TRANSITIONS[state]).length === 0),
);

export function isTerminal(state: JobState): boolean {
  return TERMINAL.has(state);
}

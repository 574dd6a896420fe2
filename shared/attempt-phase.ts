/**
 * Phases of an attempt in order: the Island accepts it, starts the run, sends its first output, and continues to send
 * output. Each phase has a time limit, like activities of workflow engines (Temporal: schedule-to-start, start-to-close
 * and heartbeat timeout, https://docs.temporal.io/encyclopedia/detecting-activity-failures).
 */
export const ATTEMPT_PHASES = ["accept", "start", "first_output", "silence"] as const;
export type AttemptPhase = (typeof ATTEMPT_PHASES)[number];

/** Time limits of the phases without any sign of activity, in ms. */
export type PhaseLimits = Readonly<Record<AttemptPhase, number>>;

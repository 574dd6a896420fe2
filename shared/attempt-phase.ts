/**
 * What an attempt does, one after the other: the Island accepts it, starts the run, gives its first output, and goes on giving output.
 * Each phase has a time limit, as activities of workflow engines have (Temporal: schedule-to-start, start-to-close and heartbeat
 * timeout, https://docs.temporal.io/encyclopedia/detecting-activity-failures).
 */
export const ATTEMPT_PHASES = ["accept", "start", "first_output", "silence"] as const;
export type AttemptPhase = (typeof ATTEMPT_PHASES)[number];

/** Longest time of each phase without a sign of life, in ms. */
export type PhaseLimits = Readonly<Record<AttemptPhase, number>>;

/** What the coordinator knows about the honesty of an owner's Islands with one Cargo. */
export const STANDINGS = ["new", "proven", "trusted", "quarantined"] as const;
export type StandingState = (typeof STANDINGS)[number];

/**
 * The result of an audit. `unclear`: the evidence is weak, no reader was found, the readers disagree, or not only the
 * model decided the answer.
 */
export const VERDICTS = ["consistent", "inconsistent", "unclear"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Evidence from the readings of an owner's answers. See `coordinator/audits/evidence.ts`. */
export interface Evidence {
  /** Log likelihood ratio of lies to honest answers since they were last equally probable, in nats. */
  readonly suspicion: number;
  /** Log likelihood ratio of honest answers to false texts since the last consistent audit, in nats. */
  readonly support: number;
}

export const NO_EVIDENCE: Evidence = { suspicion: 0, support: 0 };

export interface Standing {
  readonly state: StandingState;
  /** Number of consistent audits since the last change to `new`. */
  readonly streak: number;
  readonly evidence: Evidence;
  /** Number of unclear audits since the last consistent one. Absent for none. */
  readonly unclear?: number;
  /** Why an operator or an audit changed the state; null for none. */
  readonly reason: string | null;
}

export const NEW_STANDING: Standing = { state: "new", streak: 0, evidence: NO_EVIDENCE, reason: null };
export const TRUSTED: Standing = { ...NEW_STANDING, state: "trusted", reason: "an operator owns these Islands" };

/** Returns whether jobs of the trust `proven` may run on the owner's Islands. */
export function isProven({ state }: Standing): boolean {
  return state === "proven" || state === "trusted";
}

/** Consistent audits in a row after which an owner is proven. Source: BOINC, adaptive replication. */
export const PROVEN_AFTER = 10;
/** Least probability with which a job of a proven owner is audited. */
export const MIN_CHANCE = 0.02;
/**
 * Unclear audits in a row after which jobs are audited only with {@link MIN_CHANCE}. Otherwise an owner and its readers
 * could earn from audits that never end in a verdict, and the network would pay more for them than its fees.
 */
export const MAX_UNCLEAR = 20;

/** Returns the probability with which a job is audited. Source: BOINC, adaptive replication. */
export function auditChance({ state, streak, unclear = 0 }: Standing): number {
  if (state === "trusted") return 0;
  if (unclear >= MAX_UNCLEAR) return MIN_CHANCE;
  return state === "proven" ? Math.max(MIN_CHANCE, 1 / streak) : 1;
}

/**
 * Returns the standing after an audit. A trusted owner stays trusted, because only operators change that.
 * @param evidence The evidence with this audit.
 * @param wasRead True if an owner was paid for a reading.
 */
export function afterVerdict(
  standing: Standing,
  verdict: Verdict,
  evidence: Evidence,
  reason: string,
  wasRead: boolean,
): Standing {
  const { state, streak, unclear = 0 } = standing;
  if (state === "trusted" || state === "quarantined") return standing;
  if (verdict === "inconsistent") return { state: "quarantined", streak: 0, evidence, reason };
  if (verdict === "unclear") return { ...standing, evidence, ...(wasRead && { unclear: unclear + 1 }) };
  const isProven = streak + 1 >= PROVEN_AFTER;
  // Each consistent audit needs its own support.
  return {
    state: isProven ? "proven" : state,
    streak: streak + 1,
    evidence: { ...evidence, support: 0 },
    reason: null,
  };
}

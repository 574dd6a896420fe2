/**
 * The Islands that may run a job, from the weakest demand to the strictest. `proven`: those of owners whose standing with
 * the Cargo is proven or trusted. `own`: those of the job's account.
 */
export const TRUSTS = ["any", "proven", "own"] as const;
export type Trust = (typeof TRUSTS)[number];

/**
 * Needed by jobs of the trust `proven`. The scheduler compares it with the owner of an Island. All others, such as
 * coordinators of earlier versions, treat it as a feature that no Island has.
 */
export const PROVEN_FEATURE = "trust.proven";

/** `never`: no other Island reads the prompt and the answer for an audit. */
export const AUDITS = ["default", "never"] as const;
type Audits = (typeof AUDITS)[number];

/** What a client asks for; null or undefined if it does not say. */
export interface AskedTerms {
  readonly trust?: Trust | null | undefined;
  readonly audit?: Audits | null | undefined;
}

/** What a job demands of the Islands that see its input. */
export interface JobTerms {
  readonly trust: Trust;
  readonly audit: Audits;
  /** For the reading of an audit, the account whose Islands read; null for other jobs. */
  readonly reader: string | null;
}

export const NO_TERMS: JobTerms = { trust: "any", audit: "default", reader: null };

/** Returns the strictest of several demands; `any` without demands. */
function strictest(...demands: readonly (Trust | null | undefined)[]): Trust {
  return TRUSTS.findLast((trust) => demands.includes(trust)) ?? "any";
}

/**
 * Returns the terms of a job; null if it demands nothing.
 * @param asked Demands of the request.
 * @param keyTrust Trust of the API key, for a request without one.
 * @param minTrust Minimum of the Cargo.
 */
export function termsOf(
  asked: AskedTerms,
  keyTrust: Trust | null | undefined,
  minTrust: Trust | undefined,
): JobTerms | null {
  const trust = strictest(asked.trust ?? keyTrust, minTrust);
  const audit = asked.audit ?? "default";
  return trust === "any" && audit === "default" ? null : { ...NO_TERMS, trust, audit };
}

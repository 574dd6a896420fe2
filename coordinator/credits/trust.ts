/**
 * The Islands that may run a job, from the weakest demand to the strictest. `proven`: those of owners whose standing with
 * the Cargo is proven or trusted. `own`: those of the job's account.
 */
export const TRUSTS = ["any", "proven", "own"] as const;
export type Trust = (typeof TRUSTS)[number];

/** What a job demands of the Islands that see its input. */
export interface JobTerms {
  readonly trust: Trust;
  /** `never`: no other Island reads the answer for an audit. */
  readonly audit: "default" | "never";
  /** For the reading of an audit, the account whose Islands read; null for other jobs. */
  readonly reader: string | null;
}

export const NO_TERMS: JobTerms = { trust: "any", audit: "default", reader: null };

import { ValidationError, type FieldError } from "../../shared/errors.ts";
import type { AccountLimits } from "../store/accounts/accounts.ts";

/** The limits of an account, with defaults where the operator set none. */
export type ResolvedLimits = { readonly [Name in keyof AccountLimits]: number };

/** Default limits. Source of all except `share`: spec §8. */
export const DEFAULT_LIMITS: ResolvedLimits = {
  requestsPerMinute: 100,
  concurrentJobs: 10,
  concurrentStreams: 5,
  share: 100,
};

/** Highest request limit. It also bounds memory: the window keeps a number for each request of a minute. */
const MAX_REQUESTS_PER_MINUTE = 1_000_000;
const MAX_CONCURRENT = 1_000_000;
const MAX_SHARE = 1_000;

/** Range of each limit. A limit of 0 concurrent jobs or streams blocks the account. */
const RANGES: { readonly [Name in keyof AccountLimits]: readonly [min: number, max: number] } = {
  requestsPerMinute: [1, MAX_REQUESTS_PER_MINUTE],
  concurrentJobs: [0, MAX_CONCURRENT],
  concurrentStreams: [0, MAX_CONCURRENT],
  share: [1, MAX_SHARE],
};

/** Returns the limits in force. `stored`: undefined for an unknown account, which gets the defaults. */
export function resolveLimits(stored: AccountLimits | undefined): ResolvedLimits {
  return {
    requestsPerMinute: stored?.requestsPerMinute ?? DEFAULT_LIMITS.requestsPerMinute,
    concurrentJobs: stored?.concurrentJobs ?? DEFAULT_LIMITS.concurrentJobs,
    concurrentStreams: stored?.concurrentStreams ?? DEFAULT_LIMITS.concurrentStreams,
    share: stored?.share ?? DEFAULT_LIMITS.share,
  };
}

/** Checks limits. @throws {ValidationError} with an entry for each that is not an integer in its range */
export function assertLimits(limits: Partial<AccountLimits>): void {
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(limits) as [keyof AccountLimits, number | null][]) {
    const [min, max] = RANGES[name];
    if (value !== null && !(Number.isInteger(value) && value >= min && value <= max)) {
      errors.push({ path: name, message: `must be an integer from ${min} to ${max}` });
    }
  }
  if (errors.length > 0) throw new ValidationError(errors);
}

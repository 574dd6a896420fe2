import type { UtcDay } from "./host-figures-store.ts";
import type { Page } from "./page.ts";

/** `spent`: charged for jobs of the account. `earned`: with its Islands. */
export const USAGE_KINDS = ["spent", "earned"] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];

/** What lines of usage are kept apart by, beside their kind. */
export const USAGE_GROUPS = ["day", "cargo", "key"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageFilter {
  /** Both days are included. */
  readonly fromDay: UtcDay;
  readonly toDay: UtcDay;
  readonly kind?: UsageKind | undefined;
  readonly slug?: string | undefined;
  readonly keyId?: string | undefined;
}

/** What jobs cost or earned. A member that lines are not grouped by is null. */
export interface UsageLine {
  readonly kind: UsageKind;
  /** When the jobs ended. */
  readonly day: UtcDay | null;
  readonly slug: string | null;
  /** The API key that submitted the jobs; null too for those of a session, and for earnings. */
  readonly keyId: string | null;
  readonly micro: number;
  /** Jobs with a charge, or an earning. */
  readonly jobs: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface UsageReport {
  /** By day, newest first; then by kind, Cargo and key. */
  readonly lines: readonly UsageLine[];
  /** Lines of all pages. */
  readonly total: number;
  /** Of all pages. */
  readonly spentMicro: number;
  readonly earnedMicro: number;
}

/**
 * What accounts spend and earn, exactly as the ledger has it. Entries are summed up by account, day, Cargo and key from time to time, each
 * once, and a read adds those that are not summed up yet: jobs write nothing for it.
 */
export interface UsageStore {
  read(accountId: string, filter: UsageFilter, groups: readonly UsageGroup[], page: Page): Promise<UsageReport>;
  /** Sums up at most `limit` entries of the ledger. True if there may be more. */
  sumUp(limit: number): Promise<boolean>;
  /** Forgets days before `beforeDay`; at most `limit` rows. Resolves with their number. */
  forgetDays(beforeDay: UtcDay, limit: number): Promise<number>;
}

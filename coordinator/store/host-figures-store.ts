/** A UTC day: whole days since 1 January 1970. */
export type UtcDay = number;

export const DAY_MS = 86_400_000;

export function utcDayOf(atMs: number): UtcDay {
  return Math.floor(atMs / DAY_MS);
}

/** What an Island did, as far as it is gathered in memory and stored from time to time. */
export interface HostCounts {
  readonly onlineMs: number;
  /** Jobs that ended here, by how. */
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly timedOut: number;
  /** Attempts that failed or were lost here, and whose jobs were tried again, here or elsewhere. */
  readonly retried: number;
  /** Of the jobs that ended here. */
  readonly tokens: number;
}

export const NO_COUNTS: HostCounts = {
  onlineMs: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  timedOut: 0,
  retried: 0,
  tokens: 0,
};

/** An Island on a day, for the account that it was of. */
export interface HostDay {
  readonly accountId: string;
  readonly hostId: string;
  readonly day: UtcDay;
}

export interface JobEarning {
  readonly jobId: string;
  readonly micro: number;
  readonly atMs: number;
}

/** Lines of the ledger that are looked through for the latest earnings of one Island. */
export const MAX_LINES = 2_000;

/**
 * Figures of Islands by day. Counts are what coordinators add. Earnings are those of the ledger, exactly: entries are summed up by Island
 * and day from time to time, each once, and a read adds those that are not summed up yet.
 */
export interface HostFiguresStore {
  /** Adds to what is stored. */
  addCounts(rows: readonly (HostDay & HostCounts)[]): Promise<void>;
  /** Counts of the account's Islands, or of one, from `fromDay` on, in any order. */
  counts(accountId: string, hostId: string | null, fromDay: UtcDay): Promise<(HostDay & HostCounts)[]>;
  /** Micro-credits that the account earned with its Islands, or with one, from `fromDay` on; several rows may be of one day. */
  earnings(
    accountId: string,
    hostId: string | null,
    fromDay: UtcDay,
  ): Promise<{ readonly hostId: string; readonly day: UtcDay; readonly micro: number }[]>;
  /** The latest earnings of jobs of the Island, newest first, of the account's last {@link MAX_LINES} lines in the ledger. */
  recentEarnings(accountId: string, hostId: string, limit: number): Promise<JobEarning[]>;
  /** Sums up at most `limit` entries of the ledger. True if there may be more. */
  sumUpEarnings(limit: number): Promise<boolean>;
  /** Forgets days before `beforeDay`; at most `limit` rows. Resolves with their number. */
  forgetDays(beforeDay: UtcDay, limit: number): Promise<number>;
}

import type { JobState } from "../../shared/job-state.ts";
import type { Account, Role } from "./account-store.ts";
import type { IslandRecord } from "./islands.ts";
import type { JobRecord } from "./job-store.ts";
import type { Page } from "./page.ts";

/** Of an account or an Island. */
export interface Suspension {
  /** Told to who is suspended. */
  readonly because: string;
  readonly atMs: number;
}

/** An account as operators see it. */
export interface KnownAccount extends Account {
  readonly suspension: Suspension | null;
  /** Held for unfinished jobs. */
  readonly heldMicro: number;
  readonly unfinishedJobs: number;
  /** Known ones, connected or not. */
  readonly islands: number;
}

export interface AccountFilter {
  /** Part of the e-mail address, without case; or the whole id. */
  readonly search?: string | undefined;
  readonly role?: Role | undefined;
  readonly isSuspended?: boolean | undefined;
}

/** An Island as operators see it. */
export interface KnownIsland extends IslandRecord {
  /** Of its owner. */
  readonly email: string;
  readonly suspension: Suspension | null;
}

export interface IslandFilter {
  /** Beginning of the id, or part of a name, without case. */
  readonly search?: string | undefined;
  readonly accountId?: string | undefined;
  /** The Island, or its account. */
  readonly isSuspended?: boolean | undefined;
  /** Last seen at this time or later. */
  readonly seenSinceMs?: number | undefined;
  /** Last seen before this time. */
  readonly unseenSinceMs?: number | undefined;
}

/** A job as operators see it: without what its owner asked and got. */
export interface KnownJob extends Pick<
  JobRecord,
  | "id"
  | "accountId"
  | "batchId"
  | "slug"
  | "state"
  | "jobClass"
  | "priority"
  | "priceMicro"
  | "creditsUsedMicro"
  | "attempt"
  | "islandId"
  | "createdAtMs"
  | "startedAtMs"
  | "completedAtMs"
> {
  /** Of its account; empty for one that was deleted. */
  readonly email: string;
  readonly errorCode: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
}

export interface KnownJobFilter {
  readonly states?: readonly JobState[] | undefined;
  readonly accountId?: string | undefined;
  readonly slug?: string | undefined;
  readonly islandId?: string | undefined;
}

/** The latest jobs of the network that a list of them looks through; an account's own are all looked through. */
export const MAX_LISTED_JOBS = 100_000;

/** Unfinished jobs of a Cargo in one state. */
export interface UnfinishedJobs {
  readonly slug: string;
  readonly state: JobState;
  readonly jobs: number;
  readonly oldestAtMs: number;
}

export const ANNOUNCEMENT_LEVELS = ["info", "warning"] as const;
export type AnnouncementLevel = (typeof ANNOUNCEMENT_LEVELS)[number];

export interface Announcement {
  readonly id: string;
  readonly level: AnnouncementLevel;
  readonly text: string;
  readonly createdAtMs: number;
  /** Shown before this time; null: until it is removed. */
  readonly untilMs: number | null;
}

/** Credits that an operator gives to an account, or takes back. */
export interface Grant {
  readonly accountId: string;
  /** Negative: taken back. */
  readonly micro: number;
  /** Shown to the account in its ledger. */
  readonly note: string | null;
  readonly atMs: number;
  /** Of a request that may be repeated, and the operator who sent it; see {@link GrantNote}. Null: each call grants. */
  readonly repeat: { readonly actor: string; readonly idempotencyKey: string } | null;
}

/** What the audit log has of a grant, as `after`. Repeats are found there, so a key counts for good. */
export interface GrantNote {
  readonly grantMicro: number;
  readonly note?: string;
  readonly idempotencyKey?: string;
}

export const GRANT_ACTION = "account.grant";

/** What operators see and do across accounts. */
export interface OperatorStore {
  /**
   * False for a repeat: the operator gave the account the same with this key, in a commit noted as {@link GRANT_ACTION}.
   * @throws {ServiceError} `not_found` for an account that is unknown or deleted; `idempotency_conflict` for a key that came with another
   *   amount; the refusal of the postings (`refusalOf`). Nothing is stored.
   */
  grant(grant: Grant): Promise<boolean>;
  /** False for no such account, and for an operator to be who is suspended. */
  setRole(accountId: string, role: Role): Promise<boolean>;
  /** False unless the account exists, is no operator's and is not suspended. */
  suspendAccount(accountId: string, suspension: Suspension): Promise<boolean>;
  /** False unless it was suspended. */
  reinstateAccount(accountId: string): Promise<boolean>;
  /** False unless the Island is known, and not suspended. */
  suspendIsland(hostId: string, suspension: Suspension): Promise<boolean>;
  /** False unless it was suspended. */
  reinstateIsland(hostId: string): Promise<boolean>;
  /** Why each suspended account and Island is, by id. */
  suspensions(): Promise<{
    readonly accounts: ReadonlyMap<string, string>;
    readonly islands: ReadonlyMap<string, string>;
  }>;

  /** Newest first, without deleted ones. `total` counts all pages. */
  accounts(filter: AccountFilter, page: Page): Promise<{ accounts: KnownAccount[]; total: number }>;
  account(accountId: string): Promise<KnownAccount | undefined>;
  /** Last seen first. `total` counts all pages. */
  islands(filter: IslandFilter, page: Page): Promise<{ islands: KnownIsland[]; total: number }>;
  island(hostId: string): Promise<KnownIsland | undefined>;
  /** How many Islands are known, and how many of them were last seen at `seenSinceMs` or later. It costs as much as there are Islands. */
  countIslands(seenSinceMs: number): Promise<{ readonly known: number; readonly seen: number }>;
  /** Newest first. `total` counts all pages, of {@link MAX_LISTED_JOBS} at most unless an account is given. */
  jobs(filter: KnownJobFilter, page: Page): Promise<{ jobs: KnownJob[]; total: number }>;
  unfinishedJobs(): Promise<UnfinishedJobs[]>;

  /** Removes announcements that are over at `nowMs`. False if there are `maxAnnouncements` others. */
  announce(announcement: Announcement, limits: { nowMs: number; maxAnnouncements: number }): Promise<boolean>;
  /** False for no such announcement. */
  removeAnnouncement(id: string): Promise<boolean>;
  /** Those that are not over at `nowMs`, newest first. */
  announcements(nowMs: number): Promise<Announcement[]>;
}

import type { LRUCache } from "lru-cache";
import { recentMap } from "../../shared/recent-map.ts";
import type { JobClass } from "../store/jobs/job-store.ts";
import { FairShare, newSharer, NEUTRAL_SHARE, type Sharer } from "./fair-share.ts";

/** Accounts without jobs whose use is remembered. A forgotten one counts as new. */
const MAX_IDLE_ACCOUNTS = 10_000;
/** Slot time of an account's next job before any of its jobs has ended. */
const FIRST_ESTIMATE_MS = 10_000;
/** Weight of the newest run in the estimate. */
const NEWEST_WEIGHT = 0.2;

export const JOB_CLASSES: readonly JobClass[] = ["chat", "batch"];

/** An entry of a queue that is sorted by the place of its account. */
export interface AccountEntry {
  /** The place of the account has changed. */
  sort(): void;
}

/** An account's part of the slots' time in one class, over all Cargos. */
export interface AccountShare extends Sharer {
  readonly accountId: string;
  waitingJobs: number;
  runningJobs: number;
  /** Slot time that its next job will take, from the jobs that ended. */
  estimateMs: number;
  /** How often it was passed over since it was last served in its turn. */
  passedOver: number;
  /** One for each queue that has jobs of the account. */
  readonly entries: Set<AccountEntry>;
}

/** A class shares slot time with the other one, and the accounts in it share the time of the class. */
interface ClassShare extends Sharer {
  /** The order of its accounts. */
  readonly fair: FairShare;
  /** Accounts with jobs, by id. */
  readonly active: Map<string, AccountShare>;
  readonly idle: LRUCache<string, AccountShare>;
  waitingJobs: number;
}

export interface SlotUse {
  readonly jobClass: JobClass;
  readonly account: AccountShare;
  readonly sinceMs: number;
  readonly chargedToClass: number;
  readonly chargedToAccount: number;
}

/** The slots' time, shared first between the classes and then, in each class, between accounts. */
export class JobClasses {
  readonly #fair = new FairShare();
  readonly #classes: Readonly<Record<JobClass, ClassShare>>;

  /** @param chatShare Part of the slots' time that chats get while jobs of both classes wait; above 0, below 1. */
  constructor(chatShare: number) {
    this.#classes = { chat: newClass(chatShare), batch: newClass(1 - chatShare) };
  }

  /** The place of a class in the order of the two. */
  shareOf(jobClass: JobClass): Sharer {
    return this.#classes[jobClass];
  }

  /** Where an account without debt begins in a class. */
  virtualMsOf(jobClass: JobClass): number {
    return this.#classes[jobClass].fair.virtualMs;
  }

  /** Counts a waiting job of the account, whose share is now `share`. */
  enter(jobClass: JobClass, accountId: string, share: number): AccountShare {
    const group = this.#classes[jobClass];
    if (group.waitingJobs === 0) this.#fair.enter(group);
    group.waitingJobs += 1;
    const account = group.active.get(accountId) ?? group.idle.get(accountId) ?? newAccount(accountId, share);
    group.idle.delete(accountId);
    group.active.set(accountId, account);
    account.share = share;
    if (account.waitingJobs === 0) group.fair.enter(account);
    account.waitingJobs += 1;
    return account;
  }

  /** Uncounts a waiting job, which `enter()` counted. */
  leave(jobClass: JobClass, account: AccountShare): void {
    const group = this.#classes[jobClass];
    group.waitingJobs -= 1;
    account.waitingJobs -= 1;
    forgetIfIdle(group, account);
  }

  /** A job takes a slot. Its slot time is estimated, and charged at once. */
  charge(jobClass: JobClass, account: AccountShare, nowMs: number): SlotUse {
    const group = this.#classes[jobClass];
    const chargedToClass = this.#fair.charge(group, account.estimateMs);
    account.runningJobs += 1;
    const chargedToAccount = group.fair.charge(account, account.estimateMs);
    sortEntries(account);
    return { jobClass, account, sinceMs: nowMs, chargedToClass, chargedToAccount };
  }

  /** A job starts at another coordinator, which does not say how long it takes: the estimate is what it cost. */
  lend(jobClass: JobClass, account: AccountShare): void {
    const group = this.#classes[jobClass];
    this.#fair.charge(group, account.estimateMs);
    group.fair.charge(account, account.estimateMs);
    sortEntries(account);
  }

  /** The job left its slot: class and account pay the time that it really took. */
  settle({ jobClass, account, sinceMs, chargedToClass, chargedToAccount }: SlotUse, nowMs: number): void {
    const group = this.#classes[jobClass];
    const usedMs = Math.max(0, nowMs - sinceMs);
    this.#fair.settle(group, chargedToClass, usedMs);
    group.fair.settle(account, chargedToAccount, usedMs);
    account.estimateMs += NEWEST_WEIGHT * (usedMs - account.estimateMs);
    account.runningJobs -= 1;
    sortEntries(account);
    forgetIfIdle(group, account);
  }
}

function newClass(part: number): ClassShare {
  const share = Math.max(1, Math.round(2 * NEUTRAL_SHARE * part));
  const accounts = { active: new Map(), idle: recentMap<AccountShare>(MAX_IDLE_ACCOUNTS) };
  return { ...newSharer(share), ...accounts, fair: new FairShare(), waitingJobs: 0 };
}

function newAccount(accountId: string, share: number): AccountShare {
  const counts = { waitingJobs: 0, runningJobs: 0, passedOver: 0 };
  return { ...newSharer(share), ...counts, accountId, estimateMs: FIRST_ESTIMATE_MS, entries: new Set() };
}

function sortEntries({ entries }: AccountShare): void {
  for (const entry of entries) entry.sort();
}

function forgetIfIdle({ active, idle }: ClassShare, account: AccountShare): void {
  if (account.waitingJobs > 0 || account.runningJobs > 0) return;
  active.delete(account.accountId);
  idle.set(account.accountId, account);
}

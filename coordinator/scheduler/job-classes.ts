import type { LRUCache } from "lru-cache";
import { recentMap } from "../../shared/recent-map.ts";
import type { JobClass } from "../store/jobs/job-store.ts";
import { FairShare, newSharer, NEUTRAL_SHARE, type Sharer } from "./fair-share.ts";

/** Maximum number of accounts without jobs whose shares are kept. A dropped account is treated as new. */
const MAX_IDLE_ACCOUNTS = 10_000;
/** Estimated slot time of an account's next job before any of its jobs has ended. */
const FIRST_ESTIMATE_MS = 10_000;
/** Weight of the newest slot time in the estimate. */
const NEWEST_WEIGHT = 0.2;

export const JOB_CLASSES: readonly JobClass[] = ["chat", "batch"];

export interface AccountEntry {
  sort(): void;
}

/** An account's share of the slot time of one class, over all Cargos. */
export interface AccountShare extends Sharer {
  readonly accountId: string;
  waitingJobs: number;
  runningJobs: number;
  /** Estimated slot time of the account's next job, from its jobs that ended. */
  estimateMs: number;
  /** How often the account was passed over for a loaded Cargo since its last regular turn. */
  passedOver: number;
  /** Entries of the queues that have jobs of the account. */
  readonly entries: Set<AccountEntry>;
}

/** A class shares slot time with the other class. Its accounts share the time of the class. */
interface ClassShare extends Sharer {
  readonly fair: FairShare;
  /** Accounts with jobs, by id. */
  readonly active: Map<string, AccountShare>;
  readonly idle: LRUCache<string, AccountShare>;
  waitingJobs: number;
}

/** A job that runs in a slot, with the costs that its start was charged. */
export interface SlotUse {
  readonly jobClass: JobClass;
  readonly account: AccountShare;
  readonly chargedToClass: number;
  readonly chargedToAccount: number;
}

/** Shares slot time first between the classes, then between the accounts of each class. */
export class JobClasses {
  readonly #fair = new FairShare();
  readonly #classes: Readonly<Record<JobClass, ClassShare>>;

  /** @param chatShare Share of slot time that chats get while jobs of both classes wait; above 0, below 1. */
  constructor(chatShare: number) {
    this.#classes = { chat: newClass(chatShare), batch: newClass(1 - chatShare) };
  }

  shareOf(jobClass: JobClass): Sharer {
    return this.#classes[jobClass];
  }

  virtualMsOf(jobClass: JobClass): number {
    return this.#classes[jobClass].fair.virtualMs;
  }

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

  leave(jobClass: JobClass, account: AccountShare): void {
    const group = this.#classes[jobClass];
    group.waitingJobs -= 1;
    account.waitingJobs -= 1;
    forgetIfIdle(group, account);
  }

  /** Charges class and account the estimated slot time of a job that starts. */
  charge(jobClass: JobClass, account: AccountShare): SlotUse {
    const group = this.#classes[jobClass];
    const chargedToClass = this.#fair.charge(group, account.estimateMs);
    account.runningJobs += 1;
    const chargedToAccount = group.fair.charge(account, account.estimateMs);
    sortEntries(account);
    return { jobClass, account, chargedToClass, chargedToAccount };
  }

  /** Charges a job that starts at another coordinator. Its run time is not reported, so the estimate is final. */
  lend(jobClass: JobClass, account: AccountShare): void {
    const group = this.#classes[jobClass];
    this.#fair.charge(group, account.estimateMs);
    group.fair.charge(account, account.estimateMs);
    sortEntries(account);
  }

  /**
   * Corrects the charges of a job that left its slot. Classes share the time of slots; accounts of a class may be charged
   * by tokens instead.
   */
  settle({ jobClass, account, chargedToClass, chargedToAccount }: SlotUse, usedMs: number, chargedMs: number): void {
    const group = this.#classes[jobClass];
    this.#fair.settle(group, chargedToClass, usedMs);
    group.fair.settle(account, chargedToAccount, chargedMs);
    account.estimateMs += NEWEST_WEIGHT * (chargedMs - account.estimateMs);
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

import { recentMap } from "../../shared/recent-map.ts";
import type { JobClass } from "../store/job-store.ts";
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
  readonly accounts: AccountShares;
  waitingJobs: number;
}

/** A slot that a job has. */
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
    return this.#classes[jobClass].accounts.virtualMs;
  }

  /** Counts a waiting job. */
  enter(jobClass: JobClass, accountId: string, share: number): AccountShare {
    const group = this.#classes[jobClass];
    if (group.waitingJobs === 0) this.#fair.enter(group);
    group.waitingJobs += 1;
    return group.accounts.enter(accountId, share);
  }

  /** Uncounts a waiting job, which `enter()` counted. */
  leave(jobClass: JobClass, account: AccountShare): void {
    const group = this.#classes[jobClass];
    group.waitingJobs -= 1;
    group.accounts.leave(account);
  }

  /** A job takes a slot. Its slot time is estimated, and charged at once. */
  charge(jobClass: JobClass, account: AccountShare, nowMs: number): SlotUse {
    const group = this.#classes[jobClass];
    const chargedToClass = this.#fair.charge(group, account.estimateMs);
    return { jobClass, account, sinceMs: nowMs, chargedToClass, chargedToAccount: group.accounts.charge(account) };
  }

  /** A job starts at another coordinator, which does not tell how long it takes: the estimate is what it cost. */
  lend(jobClass: JobClass, account: AccountShare): void {
    const group = this.#classes[jobClass];
    this.#fair.charge(group, account.estimateMs);
    group.accounts.lend(account);
  }

  /** The job left its slot: class and account pay the time that it really took. */
  settle({ jobClass, account, sinceMs, chargedToClass, chargedToAccount }: SlotUse, nowMs: number): void {
    const group = this.#classes[jobClass];
    const usedMs = Math.max(0, nowMs - sinceMs);
    this.#fair.settle(group, chargedToClass, usedMs);
    group.accounts.settle(account, chargedToAccount, usedMs);
  }
}

function newClass(part: number): ClassShare {
  const share = Math.max(1, Math.round(2 * NEUTRAL_SHARE * part));
  return { ...newSharer(share), accounts: new AccountShares(), waitingJobs: 0 };
}

/** The accounts with jobs of one class, in the order of fair shares. */
class AccountShares {
  readonly #fair = new FairShare();
  readonly #active = new Map<string, AccountShare>();
  readonly #idle = recentMap<AccountShare>(MAX_IDLE_ACCOUNTS);

  get virtualMs(): number {
    return this.#fair.virtualMs;
  }

  /** Counts a waiting job of the account, whose share is now `share`. */
  enter(accountId: string, share: number): AccountShare {
    const account = this.#active.get(accountId) ?? this.#idle.get(accountId) ?? newAccount(accountId, share);
    this.#idle.delete(accountId);
    this.#active.set(accountId, account);
    account.share = share;
    if (account.waitingJobs === 0) this.#fair.enter(account);
    account.waitingJobs += 1;
    return account;
  }

  /** Uncounts a waiting job, which `enter()` counted. */
  leave(account: AccountShare): void {
    account.waitingJobs -= 1;
    this.#forgetIfIdle(account);
  }

  /** A job of the account takes a slot. Returns the cost that is charged. */
  charge(account: AccountShare): number {
    account.runningJobs += 1;
    return this.lend(account);
  }

  /** A job of the account takes a slot of another coordinator, and is not settled. Returns the cost that is charged. */
  lend(account: AccountShare): number {
    const cost = this.#fair.charge(account, account.estimateMs);
    sortEntries(account);
    return cost;
  }

  /** A job of the account left its slot after `usedMs`. */
  settle(account: AccountShare, charged: number, usedMs: number): void {
    this.#fair.settle(account, charged, usedMs);
    account.estimateMs += NEWEST_WEIGHT * (usedMs - account.estimateMs);
    account.runningJobs -= 1;
    sortEntries(account);
    this.#forgetIfIdle(account);
  }

  #forgetIfIdle(account: AccountShare): void {
    if (account.waitingJobs > 0 || account.runningJobs > 0) return;
    this.#active.delete(account.accountId);
    this.#idle.set(account.accountId, account);
  }
}

function newAccount(accountId: string, share: number): AccountShare {
  const counts = { waitingJobs: 0, runningJobs: 0, passedOver: 0 };
  return { ...newSharer(share), ...counts, accountId, estimateMs: FIRST_ESTIMATE_MS, entries: new Set() };
}

function sortEntries({ entries }: AccountShare): void {
  for (const entry of entries) entry.sort();
}

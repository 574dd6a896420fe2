import { recentMap } from "../../shared/recent-map.ts";
import { FairShare, newSharer, type Sharer } from "./fair-share.ts";

/** Accounts without jobs whose use is remembered. A forgotten one counts as new. */
const MAX_IDLE_ACCOUNTS = 10_000;
/** Slot time of an account's next job before any of its jobs has ended. */
const FIRST_ESTIMATE_MS = 10_000;
/** Weight of the newest run in the estimate. */
const NEWEST_WEIGHT = 0.2;

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

/** The accounts with jobs of one class, in the order of fair shares. */
export class AccountShares {
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

import { AccountShares, type AccountShare } from "./account-shares.ts";
import type { JobClass } from "../store/jobs/job-store.ts";
import { FairShare, newSharer, NEUTRAL_SHARE, type Sharer } from "./fair-share.ts";

export const JOB_CLASSES: readonly JobClass[] = ["chat", "batch"];

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

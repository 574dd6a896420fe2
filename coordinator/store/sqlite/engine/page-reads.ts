import type Database from "better-sqlite3";
import type { LedgerLine } from "../../../credits/account-lines.ts";
import type { AuditFilter } from "../../audit-log.ts";
import type { JobFilter, ListedJob } from "../../job-store.ts";
import type { AccountFilter, IslandFilter, KnownJobFilter } from "../../operator-store.ts";
import type { Page } from "../../page.ts";
import { JobLists } from "../jobs/job-lists.ts";
import { LedgerLines } from "../ledger/ledger-lines.ts";
import type { UsageReport } from "../../usage-store.ts";
import { prepareUsage, type UsageQuery } from "../usage/usage-reads.ts";
import { OperatorReads } from "../operators/operator-reads.ts";

/** Reads whose cost grows with the account's data: with the page's offset and with the number of entries to count. */
export interface PageReads {
  jobs(args: { accountId: string; page: Page; filter: JobFilter }): { jobs: ListedJob[]; total: number };
  ledger(args: { accountId: string; page: Page }): { lines: LedgerLine[]; total: number };
  usage(args: UsageQuery): UsageReport;
  knownAccounts(args: { filter: AccountFilter; page: Page }): ReturnType<OperatorReads["accounts"]>;
  knownIslands(args: { filter: IslandFilter; page: Page }): ReturnType<OperatorReads["islands"]>;
  knownJobs(args: { filter: KnownJobFilter; page: Page }): ReturnType<OperatorReads["jobs"]>;
  countIslands(args: { seenSinceMs: number }): ReturnType<OperatorReads["countIslands"]>;
  unfinishedJobs(args: object): ReturnType<OperatorReads["unfinishedJobs"]>;
  audit(args: { filter: AuditFilter; page: Page }): ReturnType<OperatorReads["audit"]>;
}

export type PageReadKind = keyof PageReads;
export type PageReadArgs<K extends PageReadKind> = Parameters<PageReads[K]>[0];
export type PageReadResult<K extends PageReadKind> = ReturnType<PageReads[K]>;
/** A read in the form in which it is sent to the reader's thread. */
export type PageRead = { [K in PageReadKind]: readonly [kind: K, args: PageReadArgs<K>] }[PageReadKind];

export function pageReads(db: Database.Database): PageReads {
  const jobs = new JobLists(db);
  const ledger = new LedgerLines(db);
  const operator = new OperatorReads(db, jobs);
  return {
    jobs: ({ accountId, page, filter }) => jobs.read(accountId, page, filter),
    usage: prepareUsage(db),
    ledger: ({ accountId, page }) => ledger.read(accountId, page),
    knownAccounts: ({ filter, page }) => operator.accounts(filter, page),
    knownIslands: ({ filter, page }) => operator.islands(filter, page),
    knownJobs: ({ filter, page }) => operator.jobs(filter, page),
    countIslands: ({ seenSinceMs }) => operator.countIslands(seenSinceMs),
    unfinishedJobs: () => operator.unfinishedJobs(),
    audit: ({ filter, page }) => operator.audit(filter, page),
  };
}

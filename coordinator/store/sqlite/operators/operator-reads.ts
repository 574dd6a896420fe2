import type Database from "better-sqlite3";
import type { AuditFilter, AuditLine } from "../../audit-log.ts";
import {
  accountsQuery,
  auditLineOf,
  auditQuery,
  COUNT_ISLANDS,
  islandsQuery,
  jobsById,
  jobsQuery,
  suspensionOf,
  UNFINISHED_JOBS,
  type AccountRow,
  type AuditRow,
  type Dialect,
  type IslandRow,
  type ListQuery,
  type Query,
} from "../../operator-queries.ts";
import type {
  AccountFilter,
  IslandFilter,
  KnownAccount,
  KnownIsland,
  KnownJob,
  KnownJobFilter,
  UnfinishedJobs,
} from "../../operator-store.ts";
import type { Page } from "../../page.ts";
import type { JobLists } from "../jobs/job-lists.ts";

const DIALECT: Dialect = {
  position: "instr",
  errorCode: "json_extract(error, '$.code')",
  written: (text) => text,
};

/** Lists over all accounts. Operators ask for them seldom: nothing is kept prepared. */
export class OperatorReads {
  readonly #db: Database.Database;
  readonly #jobLists: JobLists;

  constructor(db: Database.Database, jobLists: JobLists) {
    this.#db = db;
    this.#jobLists = jobLists;
  }

  accounts(filter: AccountFilter, page: Page): { accounts: KnownAccount[]; total: number } {
    const { rows, total } = this.#list<AccountRow>(accountsQuery(filter, page, DIALECT));
    return { accounts: rows.map(accountOf), total };
  }

  islands(filter: IslandFilter, page: Page): { islands: KnownIsland[]; total: number } {
    const { rows, total } = this.#list<IslandRow>(islandsQuery(filter, page, DIALECT));
    return { islands: rows.map(islandOf), total };
  }

  jobs(filter: KnownJobFilter, page: Page): { jobs: KnownJob[]; total: number } {
    const { accountId, states, slug, islandId } = filter;
    if (accountId === undefined || islandId !== undefined) {
      const { rows, total } = this.#list<KnownJob>(jobsQuery(filter, page, DIALECT));
      return { jobs: rows, total };
    }
    const { jobs, total } = this.#jobLists.read(accountId, page, { states, slug });
    return {
      jobs: this.#all<KnownJob>(
        jobsById(
          jobs.map(({ id }) => id),
          DIALECT,
        ),
      ),
      total,
    };
  }

  countIslands(seenSinceMs: number): { known: number; seen: number } {
    const [counts] = this.#all<{ known: number; seen: number }>({ sql: COUNT_ISLANDS, values: [seenSinceMs] });
    return counts ?? { known: 0, seen: 0 };
  }

  unfinishedJobs(): UnfinishedJobs[] {
    return this.#all<UnfinishedJobs>({ sql: UNFINISHED_JOBS, values: [] });
  }

  audit(filter: AuditFilter, page: Page): { lines: AuditLine[]; total: number } {
    const { rows, total } = this.#list<AuditRow>(auditQuery(filter, page));
    return { lines: rows.map(auditLineOf), total };
  }

  #list<Row>({ page, count }: ListQuery): { rows: Row[]; total: number } {
    const [{ total } = { total: 0 }] = this.#all<{ total: number }>(count);
    return { rows: this.#all<Row>(page), total };
  }

  #all<Row>({ sql, values }: Query): Row[] {
    // A `$1` of SQLite is a name.
    const named = Object.fromEntries(values.map((value, index) => [String(index + 1), value]));
    return this.#db.prepare<[object], Row>(sql).all(named);
  }
}

export function accountOf({ suspendedAtMs, suspendedBecause, ...row }: AccountRow): KnownAccount {
  return { ...row, suspension: suspensionOf({ suspendedAtMs, suspendedBecause }) };
}

export function islandOf({ suspendedAtMs, suspendedBecause, hardware, runtimes, ...row }: IslandRow): KnownIsland {
  return {
    ...row,
    hardware: JSON.parse(hardware) as KnownIsland["hardware"],
    runtimes: JSON.parse(runtimes) as KnownIsland["runtimes"],
    suspension: suspensionOf({ suspendedAtMs, suspendedBecause }),
  };
}

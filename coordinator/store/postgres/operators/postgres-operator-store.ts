import { grantPostings } from "../../../credits/postings.ts";
import type { Role } from "../../account-store.ts";
import {
  ACCOUNT_BY_ID,
  accountsQuery,
  COUNT_ISLANDS,
  ISLAND_BY_ID,
  islandsQuery,
  jobsById,
  jobsQuery,
  suspensionOf,
  UNFINISHED_JOBS,
  type AccountRow,
  type Dialect,
  type IslandRow,
  type ListQuery,
} from "../../operator-queries.ts";
import {
  GRANT_ACTION,
  type Announcement,
  type Grant,
  type KnownAccount,
  type KnownIsland,
  type KnownJob,
  type OperatorStore,
  type Suspension,
  type UnfinishedJobs,
} from "../../operator-store.ts";
import { assertPage } from "../../page.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Transactions } from "../engine/database.ts";
import { innerToColumn, textFromColumn, textToColumn } from "../engine/text.ts";
import { readJobList } from "../jobs/job-lists.ts";
import { post } from "../ledger/post.ts";

const DIALECT: Dialect = { position: "strpos", errorCode: "error::json->>'code'", written: innerToColumn };

/** A grant that a repeated request made. */
const GRANTED = `SELECT (after::json->>'grantMicro')::bigint AS micro FROM audit_log
  WHERE target_id = $1 AND actor = $2 AND action = $3 AND after::json->>'idempotencyKey' = $4`;

interface SuspendedRow {
  readonly id: string;
  readonly because: string;
}

export class PostgresOperatorStore implements OperatorStore {
  readonly #db: Transactions;

  constructor(db: Transactions) {
    this.#db = db;
  }

  grant({ accountId, micro, note, atMs, repeat }: Grant): Promise<boolean> {
    return this.#db.transact(async (session) => {
      const found = await session.run("SELECT FROM accounts WHERE id = $1 AND deleted_at_ms IS NULL FOR UPDATE", [
        accountId,
      ]);
      if (found === 0) throw REFUSALS.no_account();
      const granted =
        repeat &&
        (await session.one<{ micro: number }>(GRANTED, [accountId, repeat.actor, GRANT_ACTION, repeat.idempotencyKey]));
      if (granted && granted.micro !== micro) throw REFUSALS.idempotency_conflict();
      if (granted) return false;
      await post(session, grantPostings(accountId, micro), atMs, note);
      return true;
    });
  }

  setRole(accountId: string, role: Role): Promise<boolean> {
    return this.#isRun(
      `UPDATE accounts SET role = $2 WHERE id = $1 AND deleted_at_ms IS NULL
         AND ($2 = 'user' OR suspended_at_ms IS NULL)`,
      [accountId, role],
    );
  }

  suspendAccount(accountId: string, { atMs, because }: Suspension): Promise<boolean> {
    return this.#isRun(
      `UPDATE accounts SET suspended_at_ms = $2, suspended_because = $3
       WHERE id = $1 AND deleted_at_ms IS NULL AND suspended_at_ms IS NULL AND role = 'user'`,
      [accountId, atMs, textToColumn(because)],
    );
  }

  reinstateAccount(accountId: string): Promise<boolean> {
    return this.#isRun(
      `UPDATE accounts SET suspended_at_ms = NULL, suspended_because = NULL WHERE id = $1 AND suspended_at_ms IS NOT NULL`,
      [accountId],
    );
  }

  suspendIsland(hostId: string, { atMs, because }: Suspension): Promise<boolean> {
    return this.#isRun(
      `INSERT INTO suspended_islands (host_id, at_ms, because)
       SELECT host_id, $2, $3 FROM islands WHERE host_id = $1 AND removed_at_ms IS NULL ON CONFLICT DO NOTHING`,
      [hostId, atMs, textToColumn(because)],
    );
  }

  reinstateIsland(hostId: string): Promise<boolean> {
    return this.#isRun("DELETE FROM suspended_islands WHERE host_id = $1", [hostId]);
  }

  suspensions(): ReturnType<OperatorStore["suspensions"]> {
    return this.#db.use(async (session) => ({
      accounts: byId(
        await session.all<SuspendedRow>(
          "SELECT id, suspended_because AS because FROM accounts WHERE suspended_at_ms IS NOT NULL",
        ),
      ),
      islands: byId(await session.all<SuspendedRow>("SELECT host_id AS id, because FROM suspended_islands")),
    }));
  }

  async accounts(...[filter, page]: Parameters<OperatorStore["accounts"]>): ReturnType<OperatorStore["accounts"]> {
    assertPage(page);
    const { rows, total } = await listOf<AccountRow>(this.#db, accountsQuery(filter, page, DIALECT));
    return { accounts: rows.map(accountOf), total };
  }

  async account(accountId: string): Promise<KnownAccount | undefined> {
    const row = await this.#db.use((session) => session.one<AccountRow>(ACCOUNT_BY_ID, [accountId]));
    return row === undefined ? undefined : accountOf(row);
  }

  async islands(...[filter, page]: Parameters<OperatorStore["islands"]>): ReturnType<OperatorStore["islands"]> {
    assertPage(page);
    const { rows, total } = await listOf<IslandRow>(this.#db, islandsQuery(filter, page, DIALECT));
    return { islands: rows.map(islandOf), total };
  }

  async island(hostId: string): Promise<KnownIsland | undefined> {
    const row = await this.#db.use((session) => session.one<IslandRow>(ISLAND_BY_ID, [hostId]));
    return row === undefined ? undefined : islandOf(row);
  }

  async countIslands(seenSinceMs: number): ReturnType<OperatorStore["countIslands"]> {
    const counts = await this.#db.use((session) =>
      session.one<{ known: number; seen: number }>(COUNT_ISLANDS, [seenSinceMs]),
    );
    return counts ?? { known: 0, seen: 0 };
  }

  async jobs(...[filter, page]: Parameters<OperatorStore["jobs"]>): ReturnType<OperatorStore["jobs"]> {
    assertPage(page);
    const { accountId, states, slug, islandId } = filter;
    if (accountId === undefined || islandId !== undefined) {
      const { rows, total } = await listOf<KnownJob>(this.#db, jobsQuery(filter, page, DIALECT));
      return { jobs: rows, total };
    }
    return this.#db.use(async (session) => {
      const listed = await readJobList(session, accountId, page, { states, slug });
      const { sql, values } = jobsById(
        listed.jobs.map(({ id }) => id),
        DIALECT,
      );
      return { jobs: await session.all<KnownJob>(sql, values), total: listed.total };
    });
  }

  unfinishedJobs(): Promise<UnfinishedJobs[]> {
    return this.#db.use((session) => session.all<UnfinishedJobs>(UNFINISHED_JOBS));
  }

  announce(...[announcement, { nowMs, maxAnnouncements }]: Parameters<OperatorStore["announce"]>): Promise<boolean> {
    const { id, level, text, createdAtMs, untilMs } = announcement;
    return this.#db.transact(async (session) => {
      // One after the other, as they are counted.
      await session.run("LOCK TABLE announcements IN EXCLUSIVE MODE");
      await session.run("DELETE FROM announcements WHERE until_ms <= $1", [nowMs]);
      const inserted = await session.run(
        `INSERT INTO announcements (id, level, text, created_at_ms, until_ms) SELECT $1, $2, $3, $4, $5
         WHERE (SELECT count(*) FROM announcements) < $6`,
        [id, level, textToColumn(text), createdAtMs, untilMs, maxAnnouncements],
      );
      return inserted === 1;
    });
  }

  removeAnnouncement(id: string): Promise<boolean> {
    return this.#isRun("DELETE FROM announcements WHERE id = $1", [id]);
  }

  async announcements(nowMs: number): Promise<Announcement[]> {
    const rows = await this.#db.use((session) =>
      session.all<Announcement>(
        `SELECT id, level, text, created_at_ms AS "createdAtMs", until_ms AS "untilMs" FROM announcements
         WHERE until_ms IS NULL OR until_ms > $1 ORDER BY id DESC`,
        [nowMs],
      ),
    );
    return rows.map((row) => ({ ...row, text: textFromColumn(row.text) }));
  }

  async #isRun(sql: string, values: readonly unknown[]): Promise<boolean> {
    return (await this.#db.use((session) => session.run(sql, values))) === 1;
  }
}

export function listOf<Row>(db: Transactions, { page, count }: ListQuery): Promise<{ rows: Row[]; total: number }> {
  return db.use(async (session) => {
    const counted = await session.one<{ total: number }>(count.sql, count.values);
    return { rows: await session.all<Row>(page.sql, page.values), total: counted?.total ?? 0 };
  });
}

function byId(rows: readonly SuspendedRow[]): ReadonlyMap<string, string> {
  return new Map(rows.map(({ id, because }) => [id, textFromColumn(because)]));
}

function accountOf({ suspendedAtMs, suspendedBecause, ...row }: AccountRow): KnownAccount {
  const because = suspendedBecause === null ? null : textFromColumn(suspendedBecause);
  return { ...row, suspension: suspensionOf({ suspendedAtMs, suspendedBecause: because }) };
}

function islandOf({ suspendedAtMs, suspendedBecause, hardware, runtimes, ...row }: IslandRow): KnownIsland {
  const because = suspendedBecause === null ? null : textFromColumn(suspendedBecause);
  return {
    ...row,
    name: textFromColumn(row.name),
    hostName: textFromColumn(row.hostName),
    agentVersion: textFromColumn(row.agentVersion),
    hardware: JSON.parse(hardware) as KnownIsland["hardware"],
    runtimes: JSON.parse(runtimes) as KnownIsland["runtimes"],
    suspension: suspensionOf({ suspendedAtMs, suspendedBecause: because }),
  };
}

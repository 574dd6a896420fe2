import {
  DAY_MS,
  MAX_LINES,
  type HostCounts,
  type HostDay,
  type HostFiguresStore,
  type JobEarning,
} from "../../host-figures-store.ts";
import type { Database } from "../engine/database.ts";
import { moveCursor } from "../ledger/entries-cursor.ts";

type Earning = Awaited<ReturnType<HostFiguresStore["earnings"]>>[number];

const OF_RANGE = "account_id = $1 AND ($2::text IS NULL OR host_id = $2) AND day >= $3";
const DAY = `first.at_ms / ${DAY_MS}`;

export class PostgresHostFiguresStore implements HostFiguresStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async addCounts(rows: readonly (HostDay & HostCounts)[]): Promise<void> {
    // In one order, so that two coordinators never wait for each other in a circle.
    const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const column = (read: (row: HostDay & HostCounts) => unknown): unknown[] => sorted.map(read);
    await this.#db.use((session) =>
      session.run(ADD, [
        column(({ accountId }) => accountId),
        column(({ hostId }) => hostId),
        column(({ day }) => day),
        column(({ onlineMs }) => onlineMs),
        column(({ completed }) => completed),
        column(({ failed }) => failed),
        column(({ cancelled }) => cancelled),
        column(({ timedOut }) => timedOut),
        column(({ retried }) => retried),
        column(({ tokens }) => tokens),
      ]),
    );
  }

  counts(...range: Parameters<HostFiguresStore["counts"]>): ReturnType<HostFiguresStore["counts"]> {
    return this.#db.use((session) =>
      session.all(
        `SELECT account_id AS "accountId", host_id AS "hostId", day, online_ms AS "onlineMs", completed, failed, cancelled,
           timed_out AS "timedOut", retried, tokens FROM island_days WHERE ${OF_RANGE}`,
        range,
      ),
    );
  }

  earnings(...range: Parameters<HostFiguresStore["earnings"]>): Promise<Earning[]> {
    return this.#db.use((session) => session.all<Earning>(EARNINGS, range));
  }

  recentEarnings(...args: Parameters<HostFiguresStore["recentEarnings"]>): Promise<JobEarning[]> {
    return this.#db.use((session) => session.all<JobEarning>(RECENT, args));
  }

  sumUpEarnings(limit: number): Promise<boolean> {
    return this.#db.transact((session) =>
      moveCursor(session, "earnings_cursor", limit, (from, upTo) => session.run(SUM_UP, [from, upTo])),
    );
  }

  async forgetDays(beforeDay: number, limit: number): Promise<number> {
    let count = 0;
    for (const table of ["island_days", "island_earnings"]) {
      // oxlint-disable-next-line no-await-in-loop -- Two.
      count += await this.#db.use((session) =>
        session.run(
          `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE day < $1 LIMIT $2))`,
          [beforeDay, limit],
        ),
      );
    }
    return count;
  }
}

const ADD = `INSERT INTO island_days (account_id, host_id, day, online_ms, completed, failed, cancelled, timed_out, retried, tokens)
  SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bigint[])
  ON CONFLICT (account_id, host_id, day) DO UPDATE SET online_ms = island_days.online_ms + excluded.online_ms,
    completed = island_days.completed + excluded.completed, failed = island_days.failed + excluded.failed,
    cancelled = island_days.cancelled + excluded.cancelled, timed_out = island_days.timed_out + excluded.timed_out,
    retried = island_days.retried + excluded.retried, tokens = island_days.tokens + excluded.tokens`;

/** In one statement, so that sums and cursor are of one moment. The index entries_by_account has the entries of the account. */
const EARNINGS = `SELECT host_id AS "hostId", day, micro FROM island_earnings WHERE ${OF_RANGE}
  UNION ALL
  SELECT jobs.island_id, (${DAY})::int, sum(earning.micro)::bigint
  FROM entries AS earning JOIN entries AS first ON first.id = earning.txn JOIN jobs ON jobs.id = first.job_id
  WHERE earning.party = 'client:' || $1 AND earning.party LIKE 'client:%' AND earning.id > (SELECT entry FROM earnings_cursor)
    AND earning.kind = 'earning' AND jobs.island_id IS NOT NULL AND ($2::text IS NULL OR jobs.island_id = $2) AND ${DAY} >= $3
  GROUP BY 1, 2`;

const RECENT = `SELECT jobs.id AS "jobId", earning.micro, first.at_ms AS "atMs"
  FROM (SELECT id, txn, micro, kind FROM entries WHERE party = 'client:' || $1 AND party LIKE 'client:%'
    ORDER BY id DESC LIMIT ${MAX_LINES}) AS earning
  JOIN entries AS first ON first.id = earning.txn JOIN jobs ON jobs.id = first.job_id
  WHERE earning.kind = 'earning' AND jobs.island_id = $2 ORDER BY earning.id DESC LIMIT $3`;

const SUM_UP = `INSERT INTO island_earnings (account_id, host_id, day, micro)
  SELECT substr(earning.party, 8), jobs.island_id, ${DAY}, sum(earning.micro)
  FROM entries AS earning JOIN entries AS first ON first.id = earning.txn JOIN jobs ON jobs.id = first.job_id
  WHERE earning.id > $1 AND earning.id <= $2 AND earning.kind = 'earning' AND jobs.island_id IS NOT NULL
  GROUP BY 1, 2, 3
  ON CONFLICT (account_id, host_id, day) DO UPDATE SET micro = island_earnings.micro + excluded.micro`;

const keyOf = ({ accountId, hostId, day }: HostDay): string => `${accountId} ${hostId} ${day}`;

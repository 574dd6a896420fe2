import type Database from "better-sqlite3";
import {
  DAY_MS,
  MAX_LINES,
  type HostCounts,
  type HostDay,
  type HostFiguresStore,
  type JobEarning,
} from "../../host-figures-store.ts";
import type { Writer } from "../engine/writer.ts";

interface Range {
  readonly accountId: string;
  readonly hostId: string | null;
  readonly fromDay: number;
}
type Earning = Awaited<ReturnType<HostFiguresStore["earnings"]>>[number];

const CURSOR = "(SELECT entry FROM earnings_cursor)";
const OF_RANGE = "account_id = @accountId AND (@hostId IS NULL OR host_id = @hostId) AND day >= @fromDay";

export class SqliteHostFiguresStore implements HostFiguresStore {
  readonly #writer: Writer;
  readonly #selectCounts: Database.Statement<[Range], HostDay & HostCounts>;
  readonly #selectEarnings: Database.Statement<[Range], Earning>;
  readonly #selectRecent: Database.Statement<[{ accountId: string; hostId: string; limit: number }], JobEarning>;

  constructor(db: Database.Database, writer: Writer) {
    this.#writer = writer;
    this.#selectCounts = db.prepare(
      `SELECT account_id AS accountId, host_id AS hostId, day, online_ms AS onlineMs, completed, failed, cancelled,
         timed_out AS timedOut, retried, tokens FROM island_days WHERE ${OF_RANGE}`,
    );
    // The entries that are not summed up yet: of the index of lines, and those that are not in there yet either (see ledger-lines.ts).
    this.#selectEarnings = db.prepare(
      `SELECT host_id AS hostId, day, micro FROM island_earnings WHERE ${OF_RANGE}
       UNION ALL
       SELECT jobs.island_id, first.at_ms / ${DAY_MS} AS day, sum(earning.micro)
       FROM entries AS earning JOIN entries AS first ON first.id = earning.txn JOIN jobs ON jobs.id = first.job_id
       WHERE earning.id IN (
         SELECT entry FROM ledger_lines WHERE party = 'client:' || @accountId AND entry > ${CURSOR}
         UNION ALL
         SELECT id FROM entries WHERE id > max(${CURSOR}, (SELECT max(id) FROM entries) / 256 * 256)
           AND party = 'client:' || @accountId
       ) AND earning.kind = 'earning' AND (@hostId IS NULL OR jobs.island_id = @hostId) AND jobs.island_id IS NOT NULL
       GROUP BY jobs.island_id, day HAVING day >= @fromDay`,
    );
    this.#selectRecent = db.prepare(
      `SELECT jobs.id AS jobId, earning.micro, first.at_ms AS atMs
       FROM entries AS earning JOIN entries AS first ON first.id = earning.txn JOIN jobs ON jobs.id = first.job_id
       WHERE earning.id IN (
         SELECT id FROM entries WHERE id > (SELECT max(id) FROM entries) / 256 * 256 AND party = 'client:' || @accountId
         UNION ALL
         SELECT entry FROM (
           SELECT entry FROM ledger_lines WHERE party = 'client:' || @accountId ORDER BY entry DESC LIMIT ${MAX_LINES})
       ) AND earning.kind = 'earning' AND jobs.island_id = @hostId
       ORDER BY earning.id DESC LIMIT @limit`,
    );
  }

  addCounts(rows: readonly (HostDay & HostCounts)[]): Promise<void> {
    return this.#writer.run("addHostCounts", { rows });
  }

  async counts(...[accountId, hostId, fromDay]: Parameters<HostFiguresStore["counts"]>) {
    return this.#selectCounts.all({ accountId, hostId, fromDay });
  }

  async earnings(...[accountId, hostId, fromDay]: Parameters<HostFiguresStore["earnings"]>): Promise<Earning[]> {
    return this.#selectEarnings.all({ accountId, hostId, fromDay });
  }

  async recentEarnings(...[accountId, hostId, limit]: Parameters<HostFiguresStore["recentEarnings"]>) {
    return this.#selectRecent.all({ accountId, hostId, limit });
  }

  sumUpEarnings(limit: number): Promise<boolean> {
    return this.#writer.run("sumUpEarnings", { limit });
  }

  forgetDays(beforeDay: number, limit: number): Promise<number> {
    return this.#writer.run("forgetHostDays", { beforeDay, limit });
  }
}

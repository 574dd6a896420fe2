import type { JobState } from "../../../shared/job-state.ts";
import { grantPostings } from "../../credits/postings.ts";
import { accountTable, type Account, type Role } from "./accounts.ts";
import { ISLAND_RECORD, islandTable, type IslandRecord } from "../islands.ts";
import { readJobList } from "../jobs/job-lists.ts";
import type { JobRecord } from "../jobs/job-store.ts";
import { jobTable } from "../jobs/job-tables.ts";
import { readList, type Page } from "../steps/page.ts";
import { REFUSALS } from "../refusals.ts";
import { pageRead, read, write } from "../steps/steps.ts";
import { integer, key, nullable, Table, text, written, type RowOf } from "../steps/table.ts";
import { countRows, jsonMember, oneOf, positionIn, writtenPart, type Tx } from "../steps/tx.ts";

/** Suspensions of Islands. A row outlives the removal of its Island. */
export const suspendedIslandTable = new Table("suspended_islands", {
  hostId: key("PRIMARY KEY"),
  atMs: integer(),
  /** Reason, shown to the Island's owner. */
  because: written(),
});

export interface Suspension {
  readonly atMs: number;
  readonly reason: string;
}

export const ANNOUNCEMENT_LEVELS = ["info", "warning"] as const;
export const announcementTable = new Table("announcements", {
  id: key("PRIMARY KEY"),
  level: text<(typeof ANNOUNCEMENT_LEVELS)[number]>("CHECK (level IN ('info', 'warning'))"),
  text: written(),
  createdAtMs: integer(),
  /** Time until which the announcement is shown; null if it is shown until an operator removes it. */
  untilMs: nullable(integer()),
});
export type Announcement = RowOf<typeof announcementTable>;

export interface KnownAccount extends Account {
  readonly suspension: Suspension | null;
  readonly heldMicro: number;
  readonly unfinishedJobs: number;
  /** Number of the account's Islands, connected or not. */
  readonly islands: number;
}

export interface AccountFilter {
  /** Part of the e-mail address, in any case, or a whole account id. */
  readonly search?: string | undefined;
  readonly role?: Role | undefined;
  readonly isSuspended?: boolean | undefined;
}

export interface KnownIsland extends IslandRecord {
  /** Address of the owner's account. */
  readonly email: string;
  readonly suspension: Suspension | null;
}

export interface IslandFilter {
  /** Prefix of the host id, or part of a name in any case. */
  readonly search?: string | undefined;
  readonly accountId?: string | undefined;
  /** Whether the Islands or their accounts are suspended. */
  readonly isSuspended?: boolean | undefined;
  readonly seenSinceMs?: number | undefined;
  /** Time before which the Islands were last seen. */
  readonly unseenSinceMs?: number | undefined;
}

const KNOWN_JOB_COLUMNS = [
  "id",
  "accountId",
  "batchId",
  "slug",
  "state",
  "jobClass",
  "priority",
  "priceMicro",
  "creditsUsedMicro",
  "attempt",
  "islandId",
  "createdAtMs",
  "startedAtMs",
  "completedAtMs",
] as const;

/** A job as operators see it, without prompt and output. */
export interface KnownJob extends Pick<JobRecord, (typeof KNOWN_JOB_COLUMNS)[number]> {
  /** Address of the job's account; empty for a deleted account. */
  readonly email: string;
  readonly errorCode: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
}

export interface KnownJobFilter {
  readonly states?: readonly JobState[] | undefined;
  readonly accountId?: string | undefined;
  readonly slug?: string | undefined;
  readonly islandId?: string | undefined;
}

/** Number of newest jobs that a list without an account searches: counting all would take minutes. */
const MAX_LISTED_JOBS = 100_000;

/** Number of unfinished jobs of one Cargo in one state, and the creation time of the oldest. */
export interface UnfinishedJobs {
  readonly slug: string;
  readonly state: JobState;
  readonly jobs: number;
  readonly oldestAtMs: number;
}

export interface Grant {
  readonly accountId: string;
  /** Granted micro-credits; negative for a withdrawal. */
  readonly micro: number;
  /** Reason, shown to the account in its ledger; null without a reason. */
  readonly note: string | null;
  readonly atMs: number;
  /** Idempotency key and the operator who sent it; null if a repeated call shall grant again. */
  readonly repeat: { readonly actor: string; readonly idempotencyKey: string } | null;
}

/** `after` of a grant's audit line. Repeats are found by it, so an idempotency key never expires. */
export interface GrantNote {
  readonly grantMicro: number;
  readonly note?: string;
  readonly idempotencyKey?: string;
}

export const GRANT_ACTION = "account.grant";

const ACCOUNT = `SELECT ${accountTable.columns("id", "email", "createdAtMs", "role", "suspendedAtMs", "suspendedBecause")},
    (SELECT micro FROM balances WHERE party = 'client:' || accounts.id) AS "balanceMicro",
    (SELECT micro FROM balances WHERE party = 'hold:' || accounts.id) AS "heldMicro",
    (SELECT count(*) FROM jobs WHERE account_id = accounts.id AND completed_at_ms IS NULL) AS "unfinishedJobs",
    (SELECT count(*) FROM islands WHERE account_id = accounts.id AND removed_at_ms IS NULL) AS islands
  FROM accounts`;
const ISLAND = `SELECT ${ISLAND_RECORD}, (SELECT email FROM accounts WHERE accounts.id = account_id) AS email,
    ${suspendedIslandTable.columns("atMs", "because")}
  FROM islands LEFT JOIN suspended_islands ON suspended_islands.host_id = islands.host_id`;
const JOB = (tx: Tx): string => `SELECT ${jobTable.columns(...KNOWN_JOB_COLUMNS, "promptTokens", "completionTokens")},
    ${jsonMember(tx, "error", "code")} AS "errorCode",
    (SELECT email FROM accounts WHERE accounts.id = account_id) AS email FROM jobs`;

type AccountRow = Omit<KnownAccount, "suspension"> &
  Pick<RowOf<typeof accountTable>, "suspendedAtMs" | "suspendedBecause">;
type IslandRow = Omit<KnownIsland, "suspension"> & { readonly atMs: number | null; readonly because: string | null };

function decodeAccount(tx: Tx, row: AccountRow): KnownAccount {
  const { suspendedAtMs: atMs, suspendedBecause: reason, ...account } = accountTable.decode(row, tx.dialect);
  return { ...account, suspension: suspensionOf(atMs, reason) };
}

function decodeIsland(tx: Tx, row: IslandRow): KnownIsland {
  const { atMs, because, ...island } = suspendedIslandTable.decode(islandTable.decode(row, tx.dialect), tx.dialect);
  return { ...island, suspension: suspensionOf(atMs, because) };
}

function suspensionOf(atMs: number | null, reason: string | null): Suspension | null {
  return atMs === null ? null : { atMs, reason: reason ?? "" };
}

async function isOne(changed: Promise<number>): Promise<boolean> {
  return (await changed) === 1;
}

export const operatorSteps = {
  /**
   * Posts a grant. Returns false for a repeat: an audit line ({@link GRANT_ACTION}) shows the same grant by this
   * operator with this idempotency key.
   * @throws {ServiceError} `not_found` for an unknown or deleted account; `idempotency_conflict` if the key was used
   *   with another amount; the refusal of the postings (`refusalOf`).
   */
  grant: write(async (tx, { accountId, micro, note, atMs, repeat }: Grant) => {
    await tx.lockAccount(accountId);
    const known = "SELECT 1 FROM accounts WHERE id = @accountId AND deleted_at_ms IS NULL";
    if ((await tx.one(known, { accountId })) === undefined) throw REFUSALS.no_account();
    const granted = `SELECT CAST(${jsonMember(tx, "after", "grantMicro")} AS bigint) AS micro FROM audit_log
      WHERE target_id = @accountId AND actor = @actor AND action = @action
        AND ${jsonMember(tx, "after", "idempotencyKey")} = @idempotencyKey`;
    const values = { accountId, action: GRANT_ACTION, ...repeat };
    const earlier = repeat === null ? undefined : await tx.one<{ micro: number }>(granted, values);
    if (earlier !== undefined && earlier.micro !== micro) throw REFUSALS.idempotency_conflict();
    if (earlier !== undefined) return false;
    await tx.post(grantPostings(accountId, micro), atMs, note);
    return true;
  }),

  /** Sets the role. Returns false if there is no such account, or if a suspended account would become an operator. */
  setRole: write((tx, accountId: string, role: Role) => {
    const sql = `UPDATE accounts SET role = @role WHERE id = @accountId AND deleted_at_ms IS NULL
      AND (@role = 'user' OR suspended_at_ms IS NULL)`;
    return isOne(tx.run(sql, { accountId, role }));
  }),

  /** Suspends an account. Returns false unless it exists, is not an operator and is not suspended. */
  suspendAccount: write((tx, accountId: string, { atMs, reason }: Suspension) => {
    const sql = `UPDATE accounts SET suspended_at_ms = @suspendedAtMs, suspended_because = @suspendedBecause
      WHERE id = @accountId AND deleted_at_ms IS NULL AND suspended_at_ms IS NULL AND role = 'user'`;
    return isOne(accountTable.run(tx, sql, { accountId, suspendedAtMs: atMs, suspendedBecause: reason }));
  }),

  /** Ends a suspension. Returns false unless the account was suspended. */
  reinstateAccount: write((tx, accountId: string) => {
    const sql = `UPDATE accounts SET suspended_at_ms = NULL, suspended_because = NULL
      WHERE id = @accountId AND suspended_at_ms IS NOT NULL`;
    return isOne(tx.run(sql, { accountId }));
  }),

  /** Suspends an Island. Returns false unless it is known and not suspended. */
  suspendIsland: write((tx, hostId: string, { atMs, reason }: Suspension) => {
    const sql = `INSERT INTO suspended_islands (host_id, at_ms, because)
      SELECT host_id, @atMs, @because FROM islands WHERE host_id = @hostId AND removed_at_ms IS NULL
      ON CONFLICT DO NOTHING`;
    return isOne(suspendedIslandTable.run(tx, sql, { hostId, atMs, because: reason }));
  }),

  /** Ends a suspension. Returns false unless the Island was suspended. */
  reinstateIsland: write((tx, hostId: string) =>
    isOne(tx.run("DELETE FROM suspended_islands WHERE host_id = @hostId", { hostId })),
  ),

  suspensions: read(async (tx) => {
    const columns = accountTable.columns("id", "suspendedBecause");
    const sql = `SELECT ${columns} FROM accounts WHERE suspended_at_ms IS NOT NULL`;
    const accounts = await accountTable.rows<{ id: string; suspendedBecause: string }>(tx, sql);
    const islands = await suspendedIslandTable.rows(tx, `SELECT ${suspendedIslandTable.all} FROM suspended_islands`);
    return {
      accounts: new Map(accounts.map(({ id, suspendedBecause }) => [id, suspendedBecause])),
      islands: new Map(islands.map(({ hostId, because }) => [hostId, because])),
    };
  }),

  /** Returns a page of existing accounts, newest first. `total` counts all pages. */
  accounts: pageRead(async (tx, filter: AccountFilter, page: Page) => {
    const { search, role, isSuspended } = filter;
    const where = [
      "deleted_at_ms IS NULL",
      search !== undefined && `(${positionIn(tx, "email_key", "part")} > 0 OR accounts.id = @search)`,
      role !== undefined && "role = @role",
      isSuspended !== undefined && `suspended_at_ms IS ${isSuspended ? "NOT " : ""}NULL`,
    ];
    const list = { select: ACCOUNT, from: "accounts", key: "accounts.id", where, order: "accounts.id DESC" };
    const values = { ...filter, part: search?.toLowerCase() };
    const { rows, total } = await readList<AccountRow>(tx, list, values, page);
    return { accounts: rows.map((row) => decodeAccount(tx, row)), total };
  }),

  account: read(async (tx, accountId: string) => {
    const sql = `${ACCOUNT} WHERE accounts.id = @accountId AND deleted_at_ms IS NULL`;
    const row = await tx.one<AccountRow>(sql, { accountId });
    return row && decodeAccount(tx, row);
  }),

  /** Returns a page of Islands, most recently seen first. `total` counts all pages. */
  islands: pageRead(async (tx, filter: IslandFilter, page: Page) => {
    const { search, accountId, isSuspended, seenSinceMs, unseenSinceMs } = filter;
    const names = ["name", "host_name"].map((column) => `${positionIn(tx, `lower(${column})`, "part")} > 0`);
    const where = [
      "removed_at_ms IS NULL",
      search !== undefined && `(${positionIn(tx, "islands.host_id", "id")} = 1 OR ${names.join(" OR ")})`,
      accountId !== undefined && "account_id = @accountId",
      seenSinceMs !== undefined && "last_seen_at_ms >= @seenSinceMs",
      unseenSinceMs !== undefined && "last_seen_at_ms < @unseenSinceMs",
      isSuspended !== undefined &&
        `${isSuspended ? "" : "NOT "}(islands.host_id IN (SELECT host_id FROM suspended_islands)
          OR account_id IN (SELECT id FROM accounts WHERE suspended_at_ms IS NOT NULL))`,
    ];
    const order = "last_seen_at_ms DESC, islands.host_id";
    const list = { select: ISLAND, from: "islands", key: "islands.host_id", where, order };
    const id = search?.toLowerCase();
    const values = { ...filter, id, part: id && writtenPart(tx, id) };
    const { rows, total } = await readList<IslandRow>(tx, list, values, page);
    return { islands: rows.map((row) => decodeIsland(tx, row)), total };
  }),

  island: read(async (tx, hostId: string) => {
    const sql = `${ISLAND} WHERE islands.host_id = @hostId AND removed_at_ms IS NULL`;
    const row = await tx.one<IslandRow>(sql, { hostId });
    return row && decodeIsland(tx, row);
  }),

  /** Scans all Islands: each recorded heartbeat would have to update an index of `last_seen_at_ms`. */
  countIslands: pageRead((tx, seenSinceMs: number) => {
    const sql = `SELECT count(*) AS known, count(*) FILTER (WHERE last_seen_at_ms >= @seenSinceMs) AS seen
      FROM islands WHERE removed_at_ms IS NULL`;
    return tx.only<{ readonly known: number; readonly seen: number }>(sql, { seenSinceMs });
  }),

  /**
   * Returns a page of jobs, newest first. `total` counts all pages, at most {@link MAX_LISTED_JOBS} without an account.
   */
  jobs: pageRead(async (tx, filter: KnownJobFilter, page: Page) => {
    const { accountId, states, slug, islandId } = filter;
    if (accountId !== undefined && islandId === undefined) {
      const { jobs, total } = await readJobList(tx, accountId, page, { states, slug });
      const sql = `${JOB(tx)} WHERE ${oneOf(tx, "id", "ids")} ORDER BY id DESC`;
      return { jobs: await tx.all<KnownJob>(sql, { ids: jobs.map(({ id }) => id) }), total };
    }
    const where = [
      states !== undefined && oneOf(tx, "state", "states"),
      accountId !== undefined && "account_id = @accountId",
      slug !== undefined && "slug = @slug",
      islandId !== undefined && "island_id = @islandId",
    ];
    const from = `(SELECT id, state, account_id, slug, island_id FROM jobs ORDER BY id DESC LIMIT ${MAX_LISTED_JOBS}) AS latest`;
    const list = { select: JOB(tx), from, key: "id", where, order: "id DESC" };
    const { rows, total } = await readList<KnownJob>(tx, list, filter, page);
    return { jobs: rows, total };
  }),

  unfinishedJobs: pageRead((tx) =>
    tx.all<UnfinishedJobs>(
      `SELECT slug, state, count(*) AS jobs, min(created_at_ms) AS "oldestAtMs" FROM jobs
       WHERE completed_at_ms IS NULL GROUP BY slug, state ORDER BY slug, state`,
    ),
  ),

  /** Stores an announcement and deletes expired ones. Returns false if there are already `maxAnnouncements`. */
  announce: write(async (tx, announcement: Announcement, limits: { nowMs: number; maxAnnouncements: number }) => {
    await tx.lockTable("announcements");
    await tx.run("DELETE FROM announcements WHERE until_ms <= @nowMs", limits);
    if ((await countRows(tx, "FROM announcements")) >= limits.maxAnnouncements) return false;
    return isOne(announcementTable.insert(tx, announcement));
  }),

  removeAnnouncement: write((tx, id: string) => isOne(tx.run("DELETE FROM announcements WHERE id = @id", { id }))),

  /** Returns the unexpired announcements, newest first. */
  announcements: read((tx, nowMs: number) => {
    const sql = `SELECT ${announcementTable.all} FROM announcements
      WHERE until_ms IS NULL OR until_ms > @nowMs ORDER BY id DESC`;
    return announcementTable.rows(tx, sql, { nowMs });
  }),
};

import type { AuditFilter, AuditLine } from "./audit-log.ts";
import {
  MAX_LISTED_JOBS,
  type AccountFilter,
  type IslandFilter,
  type KnownAccount,
  type KnownJobFilter,
  type Suspension,
} from "./operator-store.ts";
import type { Page } from "./page.ts";

type Value = string | number;

/** A statement whose values are $1, $2, …, which both databases take. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** A page of a list, and the number of all its rows, as `total`. */
export interface ListQuery {
  readonly page: Query;
  readonly count: Query;
}

/** How the databases differ. */
export interface Dialect {
  /** Position of a text in another one; 0 for none. */
  readonly position: "instr" | "strpos";
  /** The code in the column `error` of a job. */
  readonly errorCode: string;
  /** A text as columns have it that clients or Islands write. */
  readonly written: (text: string) => string;
}

const ACCOUNT = `SELECT accounts.id, email, created_at_ms AS "createdAtMs", role, suspended_at_ms AS "suspendedAtMs",
    suspended_because AS "suspendedBecause",
    (SELECT micro FROM balances WHERE party = 'client:' || accounts.id) AS "balanceMicro",
    (SELECT micro FROM balances WHERE party = 'hold:' || accounts.id) AS "heldMicro",
    (SELECT count(*) FROM jobs WHERE account_id = accounts.id AND completed_at_ms IS NULL) AS "unfinishedJobs",
    (SELECT count(*) FROM islands WHERE account_id = accounts.id AND removed_at_ms IS NULL) AS islands
  FROM accounts`;
const ISLAND = `SELECT islands.host_id AS "hostId", account_id AS "accountId", name, host_name AS "hostName",
    agent_version AS "agentVersion", hardware, runtimes, last_seen_at_ms AS "lastSeenAtMs",
    coalesce(first_seen_at_ms, last_seen_at_ms) AS "firstSeenAtMs",
    (SELECT email FROM accounts WHERE accounts.id = account_id) AS email, suspended_islands.at_ms AS "suspendedAtMs",
    suspended_islands.because AS "suspendedBecause"
  FROM islands LEFT JOIN suspended_islands ON suspended_islands.host_id = islands.host_id`;

/** Of a row that may be of something suspended. */
export interface SuspensionColumns {
  readonly suspendedAtMs: number | null;
  readonly suspendedBecause: string | null;
}

export type AccountRow = Omit<KnownAccount, "suspension"> & SuspensionColumns;

export interface IslandRow extends SuspensionColumns {
  readonly email: string;
  readonly hostId: string;
  readonly accountId: string;
  readonly name: string | null;
  readonly hostName: string | null;
  readonly agentVersion: string;
  readonly hardware: string;
  readonly runtimes: string;
  readonly lastSeenAtMs: number;
  readonly firstSeenAtMs: number;
}

export type AuditRow = Omit<AuditLine, "before" | "after"> & {
  readonly before: string | null;
  readonly after: string | null;
};

export const ACCOUNT_BY_ID = `${ACCOUNT} WHERE accounts.id = $1 AND deleted_at_ms IS NULL`;
export const ISLAND_BY_ID = `${ISLAND} WHERE islands.host_id = $1 AND removed_at_ms IS NULL`;
export const UNFINISHED_JOBS = `SELECT slug, state, count(*) AS jobs, min(created_at_ms) AS "oldestAtMs" FROM jobs
  WHERE completed_at_ms IS NULL GROUP BY slug, state ORDER BY slug, state`;
/** Goes through all Islands once: an index for it would be written with each heartbeat that is noted. */
export const COUNT_ISLANDS = `SELECT count(*) AS known, count(*) FILTER (WHERE last_seen_at_ms >= $1) AS seen
  FROM islands WHERE removed_at_ms IS NULL`;

export function suspensionOf({ suspendedAtMs, suspendedBecause }: SuspensionColumns): Suspension | null {
  return suspendedAtMs === null ? null : { atMs: suspendedAtMs, because: suspendedBecause ?? "" };
}

/** Conditions, and their values by number. */
class Conditions {
  readonly #texts: string[] = [];
  readonly #values: Value[] = [];

  /** A place for the value. */
  place(value: Value): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  add(text: string): void {
    this.#texts.push(text);
  }

  get where(): string {
    return this.#texts.length === 0 ? "" : `WHERE ${this.#texts.join(" AND ")}`;
  }

  /** The rows of `from`, by `order`; `select` is a statement to which `WHERE` with the page's keys is added. */
  list(select: string, { from, key, order }: { from: string; key: string; order: string }, page: Page): ListQuery {
    const { limit, offset } = page;
    const counted = [...this.#values];
    const ids = `SELECT ${key} FROM ${from} ${this.where} ORDER BY ${order} LIMIT ${this.place(limit)} OFFSET ${this.place(offset)}`;
    return {
      page: { sql: `${select} WHERE ${key} IN (${ids}) ORDER BY ${order}`, values: this.#values },
      count: { sql: `SELECT count(*) AS total FROM ${from} ${this.where}`, values: counted },
    };
  }
}

export function accountsQuery(
  { search, role, isSuspended }: AccountFilter,
  page: Page,
  { position }: Dialect,
): ListQuery {
  const where = new Conditions();
  where.add("deleted_at_ms IS NULL");
  if (search !== undefined) {
    const [part, id] = [where.place(search.toLowerCase()), where.place(search)];
    where.add(`(${position}(email_key, ${part}) > 0 OR accounts.id = ${id})`);
  }
  if (role !== undefined) where.add(`role = ${where.place(role)}`);
  if (isSuspended !== undefined) where.add(`suspended_at_ms IS ${isSuspended ? "NOT " : ""}NULL`);
  return where.list(ACCOUNT, { from: "accounts", key: "accounts.id", order: "accounts.id DESC" }, page);
}

export function islandsQuery(filter: IslandFilter, page: Page, { position, written }: Dialect): ListQuery {
  const { search, accountId, isSuspended, seenSinceMs, unseenSinceMs } = filter;
  const where = new Conditions();
  where.add("removed_at_ms IS NULL");
  if (search !== undefined) {
    const [id, part] = [where.place(search.toLowerCase()), where.place(written(search.toLowerCase()))];
    const names = ["name", "host_name"].map((column) => `${position}(lower(${column}), ${part}) > 0`);
    where.add(`(${position}(islands.host_id, ${id}) = 1 OR ${names.join(" OR ")})`);
  }
  if (accountId !== undefined) where.add(`account_id = ${where.place(accountId)}`);
  if (seenSinceMs !== undefined) where.add(`last_seen_at_ms >= ${where.place(seenSinceMs)}`);
  if (unseenSinceMs !== undefined) where.add(`last_seen_at_ms < ${where.place(unseenSinceMs)}`);
  if (isSuspended !== undefined) {
    const ofAccount = "account_id IN (SELECT id FROM accounts WHERE suspended_at_ms IS NOT NULL)";
    const own = "islands.host_id IN (SELECT host_id FROM suspended_islands)";
    where.add(`${isSuspended ? "" : "NOT "}(${own} OR ${ofAccount})`);
  }
  const order = "last_seen_at_ms DESC, islands.host_id";
  return where.list(ISLAND, { from: "islands", key: "islands.host_id", order }, page);
}

const jobColumns = ({ errorCode }: Dialect): string =>
  `SELECT id, account_id AS "accountId", batch_id AS "batchId", slug, state, job_class AS "jobClass", priority,
    price_micro AS "priceMicro", charged_micro AS "creditsUsedMicro", attempt, island_id AS "islandId",
    created_at_ms AS "createdAtMs", started_at_ms AS "startedAtMs", completed_at_ms AS "completedAtMs",
    ${errorCode} AS "errorCode", prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens",
    (SELECT email FROM accounts WHERE accounts.id = account_id) AS email FROM jobs`;

/** Of the network's latest jobs: a list of all that ever were would be counted for minutes. */
export function jobsQuery(
  { states, accountId, slug, islandId }: KnownJobFilter,
  page: Page,
  dialect: Dialect,
): ListQuery {
  const where = new Conditions();
  if (states !== undefined) where.add(`state IN (${states.map((state) => where.place(state)).join(", ") || "NULL"})`);
  if (accountId !== undefined) where.add(`account_id = ${where.place(accountId)}`);
  if (slug !== undefined) where.add(`slug = ${where.place(slug)}`);
  if (islandId !== undefined) where.add(`island_id = ${where.place(islandId)}`);
  const from = `(SELECT id, state, account_id, slug, island_id FROM jobs ORDER BY id DESC LIMIT ${MAX_LISTED_JOBS}) AS latest`;
  return where.list(jobColumns(dialect), { from, key: "id", order: "id DESC" }, page);
}

/** Some jobs, newest first. */
export function jobsById(ids: readonly string[], dialect: Dialect): Query {
  const places = ids.map((_, index) => `$${index + 1}`).join(", ");
  return { sql: `${jobColumns(dialect)} WHERE id IN (${places || "NULL"}) ORDER BY id DESC`, values: ids };
}

export function auditQuery({ actor, action, targetId }: AuditFilter, page: Page): ListQuery {
  const where = new Conditions();
  if (actor !== undefined) where.add(`actor = ${where.place(actor)}`);
  if (action !== undefined) where.add(`action = ${where.place(action)}`);
  if (targetId !== undefined) where.add(`target_id = ${where.place(targetId)}`);
  const select = `SELECT id, at_ms AS "atMs", via, actor, origin, action, target_kind AS "targetKind", target_id AS "targetId",
    before, after, (SELECT email FROM accounts WHERE accounts.id = actor) AS email FROM audit_log`;
  return where.list(select, { from: "audit_log", key: "id", order: "id DESC" }, page);
}

/** The last lines; of a placeholder `?` or `$1`. */
export const latestDeeds = (limit: "?" | "$1"): string =>
  `SELECT id, at_ms AS "atMs", action, target_kind AS "targetKind", target_id AS "targetId"
   FROM audit_log ORDER BY id DESC LIMIT ${limit}`;

export function auditLineOf({ before, after, ...row }: AuditRow): AuditLine {
  return { ...row, before: parsed(before), after: parsed(after) };
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/** A value of the log as its column has it. */
export const auditColumn = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

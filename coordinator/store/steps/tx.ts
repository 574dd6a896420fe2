import type { LedgerParty, Posting } from "../../credits/postings.ts";

/** Parameters, named `@name` in a statement. Members that the statement does not use are ignored. */
export type Values = object;
export type Dialect = "sqlite" | "postgres";

/** A transaction, or a connection for reads, that runs the statements of steps. In SQLite each promise is already resolved. */
export interface Tx {
  readonly dialect: Dialect;
  all<T>(sql: string, values?: Values): Promise<T[]>;
  one<T>(sql: string, values?: Values): Promise<T | undefined>;
  /** Returns the row of a query that always has one, such as a count. */
  only<T>(sql: string, values?: Values): Promise<T>;
  /** Returns the number of affected rows. */
  run(sql: string, values?: Values): Promise<number>;
  /** Locks the account until the transaction ends. */
  lockAccount(accountId: string): Promise<void>;
  /** Blocks writes of other transactions to the table until the transaction ends. */
  lockTable(name: string): Promise<void>;
  /** Returns micro-credits, 0 for a party that does not exist. Locks the balance until the transaction ends. */
  balanceOf(party: LedgerParty): Promise<bigint>;
  /**
   * Stores postings that belong to no job. The step must not refuse afterwards. `note`: shown to the account.
   * @throws the refusal of the postings (`refusalOf`).
   */
  post(postings: readonly Posting[], atMs: number, note?: string | null): Promise<void>;
}

/** Returns the column `id` of all rows. */
export async function selectIds(tx: Tx, sql: string, values: Values): Promise<string[]> {
  return (await tx.all<{ id: string }>(sql, values)).map(({ id }) => id);
}

/** Counts the rows of a query, given from FROM on. */
export async function countRows(tx: Tx, from: string, values?: Values): Promise<number> {
  return (await tx.only<{ count: number }>(`SELECT count(*) AS count ${from}`, values)).count;
}

/** PostgreSQL: current time of the database in ms since the epoch. */
export const DATABASE_NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)";

// SQL fragments in which the dialects differ.

/** Returns a condition: the column is in the list of texts in the parameter. */
export const oneOf = ({ dialect }: Tx, column: string, parameter: string): string =>
  dialect === "sqlite"
    ? `${column} IN (SELECT value FROM json_each(@${parameter}))`
    : `${column} = ANY (@${parameter}::text[])`;

/** Returns a condition after a column: it is in the query's result. PostgreSQL then finds each row by its index. */
export const inRows = ({ dialect }: Tx, query: string): string =>
  dialect === "sqlite" ? `IN (${query})` : `= ANY (ARRAY(${query}))`;

/** Returns a condition for at most `@limit` rows of a table without rowid. `key`: columns of its primary key. */
export const someRows = ({ dialect }: Tx, table: string, key: string, condition: string): string =>
  dialect === "sqlite"
    ? `(${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT @limit)`
    : `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT @limit))`;

/** Returns an `ORDER BY` term that orders by bytes, whatever the source of the column. */
export const byBytes = ({ dialect }: Tx, column: string): string =>
  dialect === "sqlite" ? column : `${column} COLLATE "C"`;

/** Returns the position of the parameter in a text; 0 if it does not occur. */
export const positionIn = ({ dialect }: Tx, text: string, parameter: string): string =>
  `${dialect === "sqlite" ? "instr" : "strpos"}(${text}, @${parameter})`;

/** Encodes a part of a text as columns of the kind `written` store it. */
export const writtenPart = ({ dialect }: Tx, part: string): string =>
  dialect === "sqlite" ? part : JSON.stringify(part).slice(1, -1);

/** Returns a member of the object in a column of the kind `json`. */
export const jsonMember = ({ dialect }: Tx, column: string, member: string): string =>
  dialect === "sqlite" ? `json_extract(${column}, '$.${member}')` : `(${column}::json->>'${member}')`;

/** Returns the elements of the JSON array in the parameter as rows, whose column is `value`. */
export const jsonRows = ({ dialect }: Tx, parameter: string): string =>
  dialect === "sqlite" ? `json_each(@${parameter})` : `json_array_elements(CAST(@${parameter} AS json))`;

/** Returns a condition: the column names this coordinator. SQLite has a single coordinator and no such column. */
export const isOwn = ({ dialect }: Tx, column: string): string =>
  dialect === "sqlite" ? "true" : `${column} = @selfId`;

/** Follows the name of a table: SQLite uses this index, or rejects the statement. */
export const indexedBy = ({ dialect }: Tx, index: string): string =>
  dialect === "sqlite" ? `INDEXED BY ${index}` : "";

/** Locks the rows that a query selects. */
export const forUpdate = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE");

/** Locks the rows that a query selects against their removal. */
export const forKeyShare = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR KEY SHARE");

/** Locks the rows that a query selects, skipping those that another transaction has locked. */
export const skipLocked = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE SKIP LOCKED");

/** Another transaction has stored the key in between. Never in SQLite, which has a single writer. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "23505";

const numbered = new Map<string, { readonly text: string; readonly names: readonly string[] }>();

/**
 * Replaces each `@name` by `$n`; `names` has the order of the numbers.
 * Results are cached, so statements must not contain values.
 */
export function numberNames(sql: string) {
  let found = numbered.get(sql);
  if (found === undefined) {
    const names: string[] = [];
    const text = sql.replaceAll(/@(\w+)/g, (_, name: string) => {
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
    found = { text, names };
    numbered.set(sql, found);
  }
  return found;
}

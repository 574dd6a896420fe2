import type { LedgerParty, Posting } from "../../credits/postings.ts";

/** Parameters of a statement, which names them `@name`. Members that the statement does not use are ignored. */
export type Values = object;
export type Dialect = "sqlite" | "postgres";

/** A transaction, or for a read step a connection. In SQLite each promise is already resolved. */
export interface Tx {
  readonly dialect: Dialect;
  all<T>(sql: string, values?: Values): Promise<T[]>;
  /** Returns the first row of a query; undefined without rows. */
  one<T>(sql: string, values?: Values): Promise<T | undefined>;
  /** Returns the row of a query that always has one, such as a count. */
  only<T>(sql: string, values?: Values): Promise<T>;
  /** Returns the number of affected rows. */
  run(sql: string, values?: Values): Promise<number>;
  lockAccount(accountId: string): Promise<void>;
  /** Blocks writes of other transactions to the table until the transaction ends. */
  lockTable(name: string): Promise<void>;
  /** Returns a balance in micro-credits, 0 for an unknown party, and locks it until the transaction ends. */
  balanceOf(party: LedgerParty): Promise<bigint>;
  /**
   * Stores postings, except those of a job's submission and end. The step must not throw a refusal afterwards. `note`:
   * text shown to the account. `jobId`: the job that they concern.
   * @throws the refusal of the postings (`refusalOf`).
   */
  post(postings: readonly Posting[], atMs: number, note?: string | null, jobId?: string): Promise<void>;
}

/** Returns a text column of all rows of a query. */
export async function selectColumn<C extends string>(
  tx: Tx,
  column: C,
  sql: string,
  values: Values,
): Promise<string[]> {
  return (await tx.all<Record<C, string>>(sql, values)).map((row) => row[column]);
}

/** Returns the column `id` of all rows of a query. */
export function selectIds(tx: Tx, sql: string, values: Values): Promise<string[]> {
  return selectColumn(tx, "id", sql, values);
}

/** Counts the rows of a query, given from FROM on. */
export async function countRows(tx: Tx, from: string, values?: Values): Promise<number> {
  return (await tx.only<{ count: number }>(`SELECT count(*) AS count ${from}`, values)).count;
}

/** PostgreSQL expression for the time of the database in ms since the epoch. */
export const DATABASE_NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)";

// Functions that return SQL in which the dialects differ.

/** Returns a condition: the column is in the list of texts in the parameter. */
export const oneOf = ({ dialect }: Tx, column: string, parameter: string): string =>
  dialect === "sqlite"
    ? `${column} IN (SELECT value FROM json_each(@${parameter}))`
    : `${column} = ANY (@${parameter}::text[])`;

/** Returns a condition after a column: it is in the query's result. PostgreSQL finds each such row by its index. */
export const inRows = ({ dialect }: Tx, query: string): string =>
  dialect === "sqlite" ? `IN (${query})` : `= ANY (ARRAY(${query}))`;

/** Returns a condition for at most `@limit` rows of a table without rowid. `key`: columns of its primary key. */
export const someRows = ({ dialect }: Tx, table: string, key: string, condition: string): string =>
  dialect === "sqlite"
    ? `(${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT @limit)`
    : `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT @limit))`;

/** Returns an `ORDER BY` term that orders by bytes, regardless of the source of the column. */
export const byBytes = ({ dialect }: Tx, column: string): string =>
  dialect === "sqlite" ? column : `${column} COLLATE "C"`;

/** Returns an expression: position of the parameter in a text, from 1; 0 if it does not occur. */
export const positionIn = ({ dialect }: Tx, text: string, parameter: string): string =>
  `${dialect === "sqlite" ? "instr" : "strpos"}(${text}, @${parameter})`;

/** Encodes a part of a text as columns of the kind `written` store it. */
export const writtenPart = ({ dialect }: Tx, part: string): string =>
  dialect === "sqlite" ? part : JSON.stringify(part).slice(1, -1);

export const jsonMember = ({ dialect }: Tx, column: string, member: string): string =>
  dialect === "sqlite" ? `json_extract(${column}, '$.${member}')` : `(${column}::json->>'${member}')`;

/** Returns a table expression: the elements of the JSON array in the parameter, as column `value`. */
export const jsonRows = ({ dialect }: Tx, parameter: string): string =>
  dialect === "sqlite" ? `json_each(@${parameter})` : `json_array_elements(CAST(@${parameter} AS json))`;

/** Returns a condition: the column names this coordinator. SQLite has a single coordinator and no such column. */
export const isOwn = ({ dialect }: Tx, column: string): string =>
  dialect === "sqlite" ? "true" : `${column} = @selfId`;

/** Returns a clause after a table name: SQLite uses this index, or rejects the statement. */
export const indexedBy = ({ dialect }: Tx, index: string): string =>
  dialect === "sqlite" ? `INDEXED BY ${index}` : "";

/** Returns a clause that locks the selected rows until the transaction ends. */
export const forUpdate = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE");

/** Returns a clause that locks the selected rows only against their removal. */
export const forKeyShare = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR KEY SHARE");

/** Returns a clause that locks the selected rows and skips those that another transaction has locked. */
export const skipLocked = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE SKIP LOCKED");

/** Returns whether another transaction has stored the unique key. Never in SQLite, which has a single writer. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "23505";

const numbered = new Map<string, { readonly text: string; readonly names: readonly string[] }>();

/**
 * Replaces each `@name` by `$n`. `names`: the names in the order of their numbers. Results are cached permanently, so a
 * statement must not contain values.
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

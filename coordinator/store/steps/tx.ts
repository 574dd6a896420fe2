import type { LedgerParty, Posting } from "../../credits/postings.ts";

/** Named in a statement as `@name`. Members that the statement does not name are ignored. */
export type Values = object;
export type Dialect = "sqlite" | "postgres";

/** What the statements of a store run on: a transaction, or a connection for reads. In SQLite each promise is resolved already. */
export interface Tx {
  readonly dialect: Dialect;
  /** All rows. */
  all<T>(sql: string, values?: Values): Promise<T[]>;
  /** The first row. */
  one<T>(sql: string, values?: Values): Promise<T | undefined>;
  /** The row of a query that always has one, such as a count. */
  only<T>(sql: string, values?: Values): Promise<T>;
  /** Returns how many rows were written. */
  run(sql: string, values?: Values): Promise<number>;
  /** Until the transaction ends, no other one that locks the account goes on. */
  lockAccount(accountId: string): Promise<void>;
  /** Until the transaction ends, no other one writes to the table. */
  lockTable(name: string): Promise<void>;
  /** In micro-credits, 0 for a party that was never opened. It stays until the transaction ends. */
  balanceOf(party: LedgerParty): Promise<bigint>;
  /**
   * Stores postings that belong to no job. The step must not refuse after it. `note`: shown to the account.
   * @throws the refusal of the postings (`refusalOf`).
   */
  post(postings: readonly Posting[], atMs: number, note?: string | null): Promise<void>;
}

// Where the two dialects differ, as text of a statement.

/** The column is in the list of texts that the parameter has. */
export const oneOf = ({ dialect }: Tx, column: string, parameter: string): string =>
  dialect === "sqlite"
    ? `${column} IN (SELECT value FROM json_each(@${parameter}))`
    : `${column} = ANY (@${parameter}::text[])`;

/** Follows a column: it is in what the query selects. PostgreSQL then finds each row by its index. */
export const inRows = ({ dialect }: Tx, query: string): string =>
  dialect === "sqlite" ? `IN (${query})` : `= ANY (ARRAY(${query}))`;

/** At most `@limit` rows of a table without rowid that the condition finds. `key`: columns of its primary key. */
export const someRows = ({ dialect }: Tx, table: string, key: string, condition: string): string =>
  dialect === "sqlite"
    ? `(${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT @limit)`
    : `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT @limit))`;

/** For `ORDER BY`: the column by its bytes, whatever it was made from. */
export const byBytes = ({ dialect }: Tx, column: string): string =>
  dialect === "sqlite" ? column : `${column} COLLATE "C"`;

/** Position of the parameter in a text; 0 if that does not have it. */
export const positionIn = ({ dialect }: Tx, text: string, parameter: string): string =>
  `${dialect === "sqlite" ? "instr" : "strpos"}(${text}, @${parameter})`;

/** A part of a text as columns of the kind `written` have it. */
export const writtenPart = ({ dialect }: Tx, part: string): string =>
  dialect === "sqlite" ? part : JSON.stringify(part).slice(1, -1);

/** A member of the object in a column of the kind `json`. */
export const jsonMember = ({ dialect }: Tx, column: string, member: string): string =>
  dialect === "sqlite" ? `json_extract(${column}, '$.${member}')` : `(${column}::json->>'${member}')`;

/** The elements of the JSON array in the parameter, as rows whose column is `value`. */
export const jsonRows = ({ dialect }: Tx, parameter: string): string =>
  dialect === "sqlite" ? `json_each(@${parameter})` : `json_array_elements(CAST(@${parameter} AS json))`;
/** The row is this coordinator's, which the column names. A SQLite file has one coordinator, and no such column. */
export const isOwn = ({ dialect }: Tx, column: string): string =>
  dialect === "sqlite" ? "true" : `${column} = @selfId`;

/** Follows the name of a table: SQLite reads it by that index, or refuses the statement. */
export const indexedBy = ({ dialect }: Tx, index: string): string =>
  dialect === "sqlite" ? `INDEXED BY ${index}` : "";

/** Locks the rows that a query finds. */
export const forUpdate = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE");

/** Locks the rows that a query finds against their removal. */
export const forKeyShare = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR KEY SHARE");

/** Locks the rows that a query finds, without those that another transaction has locked. */
export const skipLocked = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE SKIP LOCKED");

/** Another transaction has stored the key since this one looked. SQLite has one writer. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "23505";

/** `@name` becomes `$n`, once for each text; the names are in the order of their numbers. */
interface NumberedSql {
  readonly text: string;
  readonly names: readonly string[];
}

const numbered = new Map<string, NumberedSql>();

/** Texts are remembered: statements must not have values in them. */
export function numberNames(sql: string): NumberedSql {
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

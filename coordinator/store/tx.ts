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

/** Locks the rows that a query finds. */
export const forUpdate = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE");

/** Locks the rows that a query finds, without those that another transaction has locked. */
export const skipLocked = ({ dialect }: Tx): string => (dialect === "sqlite" ? "" : "FOR UPDATE SKIP LOCKED");

/** `@name` becomes `$n`, once for each text; the names are in the order of their numbers. */
export interface NumberedSql {
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

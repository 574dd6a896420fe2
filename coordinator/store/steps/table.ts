import type { Dialect, Tx, Values } from "./tx.ts";

/**
 * Kinds of columns, which determine the SQL type and the encoding:
 * - `key`: text compared by bytes.
 * - `text`: text compared by the rules of the engine.
 * - `integer`: whole number of 8 bytes.
 * - `small`: whole number of 4 bytes in PostgreSQL.
 * - `flag`: boolean; 0 or 1 in SQLite.
 * - `json`: any value as JSON text.
 * - `written`: text with any UTF-16 unit. PostgreSQL stores it as a JSON string, because its text type has neither NUL
 *   nor lone surrogates.
 * - `inner`: like `written`, but a JSON string without its quotes, so that pieces can be joined.
 * - `secret`: text that the caller encrypts with the key of the database.
 */
export type ColumnKind = "key" | "text" | "integer" | "small" | "flag" | "json" | "written" | "inner" | "secret";
export type PerEngine = string | Readonly<Partial<Record<Dialect, string>>>;

export interface Column<T = unknown> {
  readonly kind: ColumnKind;
  readonly isNullable: boolean;
  /** SQL that follows the type of the column. */
  readonly rule: PerEngine;
  /** SQL name of the column; absent if it is the snake case of the member. */
  readonly name?: string;
  /** Engine that has the column; absent for both. */
  readonly onlyIn?: Dialect;
  /** Migration that adds the column; absent if the baseline has it. */
  readonly since?: number;
  /** Whole SQL definition for an engine in which kind and rule do not suffice. */
  readonly definedAs?: Readonly<Partial<Record<Dialect, string>>>;
  /** Carries the TypeScript type of the values; no column has this member at run time. */
  readonly value?: T;
}

const column =
  <Base>(kind: ColumnKind) =>
  <T extends Base = Base>(rule: PerEngine = ""): Column<T> => ({ kind, isNullable: false, rule });

export const key = column<string>("key");
export const text = column<string>("text");
export const integer = column<number>("integer");
export const small = column<number>("small");
export const flag = column<boolean>("flag");
export const json = column<unknown>("json");
export const written = column<string>("written");
export const inner = column<string>("inner");
export const secret = column<string>("secret");
export const nullable = <T>(of: Column<T>): Column<T | null> => ({ ...of, isNullable: true });
export const named = <T>(name: string, of: Column<T>): Column<T> => ({ ...of, name });
export const onlyIn = <T>(engine: Dialect, of: Column<T>): Column<T> => ({ ...of, onlyIn: engine });

export const since = <T>(migration: number, of: Column<T>): Column<T> => ({ ...of, since: migration });
export const definedAs = <T>(definitions: NonNullable<Column["definedAs"]>, of: Column<T>): Column<T> => ({
  ...of,
  definedAs: definitions,
});

type Columns = Readonly<Record<string, Column>>;
type RecordOf<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never };
export type RowOf<T> = T extends Table<infer C> ? RecordOf<C> : never;

export interface TableRules {
  /** SQL constraints of the table, such as `PRIMARY KEY (account_id, key)`. */
  readonly rules?: readonly string[];
  readonly indexes?: readonly PerEngine[];
  /** Engine that has the table; absent for both. */
  readonly onlyIn?: Dialect;
  /** Migration that adds the table; absent if the baseline has it. */
  readonly since?: number;
  /**
   * Whether the SQLite table has a rowid; other tables are `WITHOUT ROWID`, which suits short rows: SQLite moves what
   * exceeds a quarter of a page to a page of its own. A number: the migration that gives the table its rowid.
   */
  readonly hasRowid?: true | number;
  /** Fill factor of PostgreSQL's pages in percent: free space keeps updates of a row on its page. */
  readonly fillfactor?: number;
}

/** Definition of a table: its columns, their SQL, and the encoding of their values. */
export class Table<C extends Columns = Columns> {
  readonly name: string;
  readonly definition: C;
  readonly rules: TableRules;
  readonly all: string;
  /** Columns whose values differ between a row in memory and in storage. */
  readonly #coded: readonly (readonly [member: string, kind: ColumnKind])[];

  constructor(name: string, definition: C, rules: TableRules = {}) {
    this.name = name;
    this.definition = definition;
    this.rules = rules;
    this.all = this.columns(...Object.keys(definition));
    this.#coded = Object.entries(definition)
      .map(([member, { kind }]) => [member, kind] as const)
      .filter(([, kind]) => kind === "flag" || kind === "json" || kind === "written" || kind === "inner");
  }

  /** Returns SQL that selects columns under the names of their members, for `SELECT` and `RETURNING`. */
  columns(...members: readonly (keyof C & string)[]): string {
    return members.map((member) => `${this.name}.${this.columnName(member)} AS "${member}"`).join(", ");
  }

  columnsBut(...members: readonly (keyof C & string)[]): string {
    return this.columns(...this.membersBut(...members));
  }

  membersBut(...members: readonly (keyof C & string)[]): string[] {
    return Object.keys(this.definition).filter((member) => !members.includes(member));
  }

  /** Runs a query. Encodes parameters and decodes results that are named like a column. */
  async rows<T extends object = RecordOf<C>>(tx: Tx, sql: string, values: Values = {}): Promise<T[]> {
    const rows = await tx.all<Record<string, unknown>>(sql, this.encode(values, tx.dialect));
    return rows.map((row) => this.decode(row as T, tx.dialect));
  }

  /** Returns the first row of a query, decoded like `rows`; undefined without rows. */
  async row<T extends object = RecordOf<C>>(tx: Tx, sql: string, values: Values = {}): Promise<T | undefined> {
    const row = await tx.one<Record<string, unknown>>(sql, this.encode(values, tx.dialect));
    return row && this.decode(row as T, tx.dialect);
  }

  /** Runs a statement, encoding parameters that are named like a column. Returns the number of affected rows. */
  run(tx: Tx, sql: string, values: Values): Promise<number> {
    return tx.run(sql, this.encode(values, tx.dialect));
  }

  /** Inserts the members that are columns. `rule`: an `ON CONFLICT` clause, which may use the other members. */
  insert(tx: Tx, record: Partial<RecordOf<C>>, rule = ""): Promise<number> {
    const members = Object.keys(record).filter((member) => member in this.definition);
    return this.run(tx, `${this.insertSql(members)} ${rule}`, record);
  }

  insertSql(members: readonly string[]): string {
    const columns = members.map((member) => this.columnName(member)).join(", ");
    return `INSERT INTO ${this.name} (${columns}) VALUES (${members.map((member) => `@${member}`).join(", ")})`;
  }

  columnName(member: string): string {
    return columnName(member, this.definition[member]);
  }

  /** Encodes the values that are named like a column. A `secret` stays as it is. */
  encode<T extends Values>(values: T, dialect: Dialect): T {
    const encoded = { ...values } as Record<string, unknown>;
    for (const [member, kind] of this.#coded) {
      const value = encoded[member];
      if (value === undefined || value === null || kind === "flag") continue;
      if (kind === "json" || dialect === "postgres") encoded[member] = encodeText(kind, value);
    }
    return encoded as T;
  }

  /** Decodes, in place, the members that are named like a column; the row may come from a join. */
  decode<T extends object>(row: T, dialect: Dialect): T {
    const members = row as Record<string, unknown>;
    for (const [member, kind] of this.#coded) {
      const value = members[member];
      if (value === undefined || value === null) continue;
      if (kind === "flag") members[member] = Boolean(value);
      else if (kind === "json" || dialect === "postgres") members[member] = decodeText(kind, value as string);
    }
    return row;
  }
}

export function encodeText(kind: ColumnKind, value: unknown): string {
  const text = JSON.stringify(value);
  return kind === "inner" ? text.slice(1, -1) : text;
}

export function decodeText(kind: ColumnKind, column: string): unknown {
  return JSON.parse(kind === "inner" ? `"${column}"` : column);
}

export function columnName(member: string, column: Pick<Column, "name"> = {}): string {
  return column.name ?? member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Copies only the given members of a record. */
export function pick<T, K extends keyof T>(record: T, members: readonly K[]): Pick<T, K> {
  return Object.fromEntries(members.map((member) => [member, record[member]])) as Pick<T, K>;
}

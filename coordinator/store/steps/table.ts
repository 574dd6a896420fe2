import type { Dialect, Tx, Values } from "./tx.ts";

/**
 * How a column is stored. `key`: a text that is compared by its bytes. `flag`: true or false. `json`: any value as JSON text. `written`: a
 * text that clients or Islands write; it may have any UTF-16 unit, and PostgreSQL's text has neither NUL nor lone surrogates, so that it
 * is a JSON string there. `inner`: the same without the quotes, so that pieces can be joined. `secret`: sealed with the key of its database.
 * `small`: an integer of 4 bytes in PostgreSQL. SQLite checks that a `flag` is 0 or 1.
 */
export type ColumnKind = "key" | "text" | "integer" | "small" | "flag" | "json" | "written" | "inner" | "secret";
/** A text of SQL for both engines, or one for each that has it. */
export type PerEngine = string | Readonly<Partial<Record<Dialect, string>>>;

export interface Column<T = unknown> {
  readonly kind: ColumnKind;
  readonly isNullable: boolean;
  /** What follows the type in the definition of the column. */
  readonly rule: PerEngine;
  /** Where it is not that of the member. */
  readonly name?: string;
  /** The engine that has the column; absent: both. */
  readonly onlyIn?: Dialect;
  /** The migration that adds it; absent: the baseline has it. */
  readonly since?: number;
  /** The whole definition, in an engine where it is not what kind and rule give. */
  readonly definedAs?: Readonly<Partial<Record<Dialect, string>>>;
  /** Never there: it gives the type of the column's values. */
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
/** A row of the table as a record. */
export type RowOf<T> = T extends Table<infer C> ? RecordOf<C> : never;

export interface TableRules {
  /** Such as `PRIMARY KEY (account_id, key)`. */
  readonly rules?: readonly string[];
  readonly indexes?: readonly PerEngine[];
  /** The engine that has the table; absent: both. */
  readonly onlyIn?: Dialect;
  /** The migration that adds it; absent: the baseline has it. */
  readonly since?: number;
  /** In SQLite it is not `WITHOUT ROWID`. */
  readonly hasRowid?: true;
  /** Of PostgreSQL's pages, in percent: updates of a row then stay on its page. */
  readonly fillfactor?: number;
}

/** A table, described once: its definition, the columns of its statements, and how records become rows and rows records. */
export class Table<C extends Columns = Columns> {
  readonly name: string;
  readonly definition: C;
  readonly rules: TableRules;
  /** All columns, as {@link Table.columns}. */
  readonly all: string;
  /** Columns whose values are not stored as they are. */
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

  /** For `SELECT` and `RETURNING`: these columns under the names of their members. */
  columns(...members: readonly (keyof C & string)[]): string {
    return members.map((member) => `${this.name}.${this.columnName(member)} AS "${member}"`).join(", ");
  }

  /** All columns but these, as {@link Table.columns}. */
  columnsBut(...members: readonly (keyof C & string)[]): string {
    return this.columns(...this.membersBut(...members));
  }

  membersBut(...members: readonly (keyof C & string)[]): string[] {
    return Object.keys(this.definition).filter((member) => !members.includes(member));
  }

  /** All rows of the statement. Values and results that have the name of a column are coded as it is. */
  async rows<T extends object = RecordOf<C>>(tx: Tx, sql: string, values: Values = {}): Promise<T[]> {
    const rows = await tx.all<Record<string, unknown>>(sql, this.encode(values, tx.dialect));
    return rows.map((row) => this.decode(row as T, tx.dialect));
  }

  /** The first of {@link Table.rows}. */
  async row<T extends object = RecordOf<C>>(tx: Tx, sql: string, values: Values = {}): Promise<T | undefined> {
    const row = await tx.one<Record<string, unknown>>(sql, this.encode(values, tx.dialect));
    return row && this.decode(row as T, tx.dialect);
  }

  /** Returns how many rows were written. Values that have the name of a column are coded as it is. */
  run(tx: Tx, sql: string, values: Values): Promise<number> {
    return tx.run(sql, this.encode(values, tx.dialect));
  }

  /** Adds the members that are columns as a row. `rule`: an `ON CONFLICT` clause, which may name the others. */
  insert(tx: Tx, record: Partial<RecordOf<C>>, rule = ""): Promise<number> {
    const members = Object.keys(record).filter((member) => member in this.definition);
    return this.run(tx, `${this.insertSql(members)} ${rule}`, record);
  }

  /** Adds a row with these members, which are its parameters. */
  insertSql(members: readonly string[]): string {
    const columns = members.map((member) => this.columnName(member)).join(", ");
    return `INSERT INTO ${this.name} (${columns}) VALUES (${members.map((member) => `@${member}`).join(", ")})`;
  }

  /** Of the member in the database. */
  columnName(member: string): string {
    return columnName(member, this.definition[member]);
  }

  /** The values as they are stored: those that have the name of a column as it is coded. */
  encode<T extends Values>(values: T, dialect: Dialect): T {
    const encoded = { ...values } as Record<string, unknown>;
    for (const [member, kind] of this.#coded) {
      const value = encoded[member];
      if (value === undefined || value === null || kind === "flag") continue;
      if (kind === "json" || dialect === "postgres") encoded[member] = textOf(kind, value);
    }
    return encoded as T;
  }

  /** The row, which may be one of a join, with the values of those members that are columns. It is changed. */
  decode<T extends object>(row: T, dialect: Dialect): T {
    const members = row as Record<string, unknown>;
    for (const [member, kind] of this.#coded) {
      const value = members[member];
      if (value === undefined || value === null) continue;
      if (kind === "flag") members[member] = Boolean(value);
      else if (kind === "json" || dialect === "postgres") members[member] = valueOf(kind, value as string);
    }
    return row;
  }
}

/** The value as a column of the kind `json`, `written` or `inner` has it. */
export function textOf(kind: ColumnKind, value: unknown): string {
  const text = JSON.stringify(value);
  return kind === "inner" ? text.slice(1, -1) : text;
}

/** What {@link textOf} gave the text of. */
export function valueOf(kind: ColumnKind, column: string): unknown {
  return JSON.parse(kind === "inner" ? `"${column}"` : column);
}

export function columnName(member: string, column: Pick<Column, "name"> = {}): string {
  return column.name ?? member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

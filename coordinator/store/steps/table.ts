import type { Dialect, Tx, Values } from "./tx.ts";

/**
 * - `key`: text compared by bytes.
 * - `flag`: in SQLite 0 or 1.
 * - `json`: any value as JSON text.
 * - `written`: text with any UTF-16 unit. A JSON string in PostgreSQL, whose text has neither NUL nor lone surrogates.
 * - `inner`: like `written` without the quotes, so that pieces can be joined.
 * - `secret`: encrypted with the key of its database.
 * - `small`: integer of 4 bytes in PostgreSQL.
 */
export type ColumnKind = "key" | "text" | "integer" | "small" | "flag" | "json" | "written" | "inner" | "secret";
export type PerEngine = string | Readonly<Partial<Record<Dialect, string>>>;

export interface Column<T = unknown> {
  readonly kind: ColumnKind;
  readonly isNullable: boolean;
  /** SQL after the type. */
  readonly rule: PerEngine;
  /** Absent if it follows from the member. */
  readonly name?: string;
  /** Engine that has the column; absent for both. */
  readonly onlyIn?: Dialect;
  /** Migration that adds it; absent if it is in the baseline. */
  readonly since?: number;
  /** Definition for an engine in which it does not follow from kind and rule. */
  readonly definedAs?: Readonly<Partial<Record<Dialect, string>>>;
  /** Never set; carries the type of the column's values. */
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
  /** Constraints such as `PRIMARY KEY (account_id, key)`. */
  readonly rules?: readonly string[];
  readonly indexes?: readonly PerEngine[];
  /** Engine that has the table; absent for both. */
  readonly onlyIn?: Dialect;
  /** Migration that adds it; absent if it is in the baseline. */
  readonly since?: number;
  /** Set if it is not `WITHOUT ROWID` in SQLite. */
  readonly hasRowid?: true;
  /** Fill factor of PostgreSQL's pages in percent: with free space, updates of a row stay on its page. */
  readonly fillfactor?: number;
}

export class Table<C extends Columns = Columns> {
  readonly name: string;
  readonly definition: C;
  readonly rules: TableRules;
  /** All columns, like `columns`. */
  readonly all: string;
  /** Columns whose values are encoded. */
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

  /** For `SELECT` and `RETURNING`, under the names of the members. */
  columns(...members: readonly (keyof C & string)[]): string {
    return members.map((member) => `${this.name}.${this.columnName(member)} AS "${member}"`).join(", ");
  }

  columnsBut(...members: readonly (keyof C & string)[]): string {
    return this.columns(...this.membersBut(...members));
  }

  membersBut(...members: readonly (keyof C & string)[]): string[] {
    return Object.keys(this.definition).filter((member) => !members.includes(member));
  }

  /** Encodes values and decodes results that have the name of a column. */
  async rows<T extends object = RecordOf<C>>(tx: Tx, sql: string, values: Values = {}): Promise<T[]> {
    const rows = await tx.all<Record<string, unknown>>(sql, this.encode(values, tx.dialect));
    return rows.map((row) => this.decode(row as T, tx.dialect));
  }

  /** Returns the first of `rows`. */
  async row<T extends object = RecordOf<C>>(tx: Tx, sql: string, values: Values = {}): Promise<T | undefined> {
    const row = await tx.one<Record<string, unknown>>(sql, this.encode(values, tx.dialect));
    return row && this.decode(row as T, tx.dialect);
  }

  /** Returns the number of affected rows. Encodes values that have the name of a column. */
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

  /** Encodes the values that have the name of a column. */
  encode<T extends Values>(values: T, dialect: Dialect): T {
    const encoded = { ...values } as Record<string, unknown>;
    for (const [member, kind] of this.#coded) {
      const value = encoded[member];
      if (value === undefined || value === null || kind === "flag") continue;
      if (kind === "json" || dialect === "postgres") encoded[member] = textOf(kind, value);
    }
    return encoded as T;
  }

  /** Decodes the members that are columns; the row may come from a join. Changes the row. */
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

/** For a column of the kind `json`, `written` or `inner`. */
export function textOf(kind: ColumnKind, value: unknown): string {
  const text = JSON.stringify(value);
  return kind === "inner" ? text.slice(1, -1) : text;
}

/** Decodes the result of {@link textOf}. */
export function valueOf(kind: ColumnKind, column: string): unknown {
  return JSON.parse(kind === "inner" ? `"${column}"` : column);
}

export function columnName(member: string, column: Pick<Column, "name"> = {}): string {
  return column.name ?? member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

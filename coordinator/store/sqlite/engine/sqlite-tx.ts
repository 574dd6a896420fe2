import type Database from "better-sqlite3";
import type { LedgerParty, Posting } from "../../../credits/postings.ts";
import { encodeText, type RowOf, type Table } from "../../steps/table.ts";
import { numberNames, type Tx, type Values } from "../../steps/tx.ts";
import type { Ledger } from "../ledger/ledger.ts";

interface Prepared {
  readonly statement: Database.Statement<[object]>;
  readonly names: readonly string[];
}

export type Prepare = (sql: string) => Prepared;

export function prepareOnce(db: Database.Database): Prepare {
  const bySql = new Map<string, Prepared>();
  return (sql) => {
    const found = bySql.get(sql) ?? { statement: db.prepare(sql), names: numberNames(sql).names };
    bySql.set(sql, found);
    return found;
  };
}

/** The transaction or connection of a step. All of its promises are already resolved. */
export class SqliteTx implements Tx {
  readonly dialect = "sqlite";
  readonly #prepare: Prepare;
  readonly #ledger: Ledger | null;
  #isOver = false;
  /** Whether the step has posted. It then cannot be rolled back: later steps may have posted too. */
  hasPosted = false;

  /** `ledger`: null for a read step. */
  constructor(prepare: Prepare, ledger: Ledger | null) {
    this.#prepare = prepare;
    this.#ledger = ledger;
  }

  async all<T>(sql: string, values?: Values): Promise<T[]> {
    const { statement, names } = this.#prepared(sql);
    return statement.all(parametersOf(names, values)) as T[];
  }

  async one<T>(sql: string, values?: Values): Promise<T | undefined> {
    const { statement, names } = this.#prepared(sql);
    return statement.get(parametersOf(names, values)) as T | undefined;
  }

  only<T>(sql: string, values?: Values): Promise<T> {
    return this.one(sql, values) as Promise<T>;
  }

  async run(sql: string, values?: Values): Promise<number> {
    const { statement, names } = this.#prepared(sql);
    return statement.run(parametersOf(names, values)).changes;
  }

  // No locks are needed: SQLite has a single writer.
  async lockAccount(): Promise<void> {}
  async lockTable(): Promise<void> {}

  async balanceOf(party: LedgerParty): Promise<bigint> {
    if (this.#isOver || this.#ledger === null)
      throw new Error("Balances are available only to a write step while it runs");
    return this.#ledger.balanceOf(party) ?? 0n;
  }

  async post(postings: readonly Posting[], atMs: number, note: string | null = null, jobId?: string): Promise<void> {
    if (this.#isOver || this.#ledger === null) throw new Error("Only a write step can post, and only while it runs");
    this.#ledger.assertAccepts(postings);
    this.hasPosted = true;
    this.#ledger.post(postings, jobId ?? null, atMs, note);
  }

  /** Ends the transaction, so that a step that still runs cannot write into the next. */
  end(): void {
    this.#isOver = true;
  }

  #prepared(sql: string): Prepared {
    if (this.#isOver) throw new Error("The transaction of this step has ended");
    return this.#prepare(sql);
  }
}

/** Prepares an INSERT for hot writes. Its parameters have no names, whose lookup would cost as much as the insert. */
export function prepareInsert<C extends Table["definition"], K extends keyof C & string>(
  db: Database.Database,
  table: Table<C>,
  members: readonly K[],
  rule = "",
): (row: Pick<RowOf<Table<C>>, K>) => number {
  const insert = db.prepare(`${table.insertSql(members).replaceAll(/@\w+/g, "?")} ${rule}`);
  const columns = members.map((member) => [member, table.definition[member]?.kind === "json"] as const);
  return (row) => {
    const values = columns.map(([member, isJson]) => {
      const value = row[member];
      return isJson && value !== null ? encodeText("json", value) : parameterOf(value);
    });
    return insert.run(values).changes;
  };
}

function parametersOf(names: readonly string[], values: Values = {}): Record<string, unknown> {
  const given = values as Readonly<Record<string, unknown>>;
  const parameters: Record<string, unknown> = {};
  for (const name of names) parameters[name] = parameterOf(given[name]);
  return parameters;
}

/** Converts lists to JSON and booleans to 0 or 1, because SQLite has neither type. */
function parameterOf(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

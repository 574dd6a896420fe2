import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type Database from "better-sqlite3";
import { foldItems, itemsOf } from "../jobs/feed-layout.ts";
import { FileSecrets } from "../secrets/file-secrets.ts";
import { verifyLedger, type LedgerReport } from "../ledger/ledger.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import { openForWriting, prepareFile } from "../sqlite/engine/connection.ts";
import { migrate } from "../sqlite/engine/migrate.ts";
import { readMark } from "../sqlite/engine/moved.ts";
import { lockForServing, type ServeLock } from "../sqlite/engine/serve-lock.ts";
import { PreparedStatements, SqliteTx } from "../sqlite/engine/sqlite-tx.ts";
import { rebuildLedgerLines } from "../sqlite/ledger/ledger.ts";
import { MIGRATIONS } from "../sqlite/migrations.ts";
import { WEBHOOK_KEY_FILE } from "../sqlite/sqlite-store.ts";
import type { ColumnKind } from "../steps/table.ts";
import { lastKeySql, nextRowsSql, REVISIONS, type CopiedTable } from "./copied-tables.ts";
import { isClear, type CopiedRow, type CopiedValue, type DataEnd, type Revisions } from "./data-end.ts";
import type { MoveMark } from "./move-mark.ts";

/** Characters that are read at once, at most; a single row may be longer. */
const PAGE_CHARS = 4_000_000;

/** The data directory of a coordinator as an end of a move. No coordinator serves it meanwhile. */
export class SqliteEnd implements DataEnd {
  readonly name: string;
  readonly secrets: FileSecrets;
  readonly #db: Database.Database;
  readonly #lock: ServeLock;
  readonly #box: SecretBox;

  private constructor(file: string, db: Database.Database, lock: ServeLock, box: SecretBox) {
    this.name = dirname(file);
    this.secrets = new FileSecrets(dirname(file));
    this.#db = db;
    this.#lock = lock;
    this.#box = box;
  }

  /** Makes what is missing if `mayCreate`. @throws {DatabaseError} while a coordinator serves the directory. */
  static async open(databaseFile: string, nowMs: number): Promise<SqliteEnd> {
    await mkdir(dirname(databaseFile), { recursive: true, mode: 0o700 });
    const lock = lockForServing(dirname(databaseFile));
    try {
      const db = openForWriting(prepareFile(databaseFile));
      try {
        migrate(db, MIGRATIONS, nowMs);
        return new SqliteEnd(
          databaseFile,
          db,
          lock,
          await SecretBox.open(join(dirname(databaseFile), WEBHOOK_KEY_FILE)),
        );
      } catch (error) {
        db.close();
        throw error;
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async mark(): Promise<MoveMark | null> {
    return readMark(this.#db);
  }

  async beginSource(mark: MoveMark): Promise<void> {
    this.#note(mark);
    // Others that have it open already wait, and then fail.
    this.#db.exec("BEGIN IMMEDIATE");
  }

  async beginTarget(mark: MoveMark): Promise<void> {
    this.#db.transaction(() => {
      this.#note(mark);
      // It comes with the others.
      this.#db.exec("DELETE FROM balances");
    })();
  }

  async completeSource(): Promise<void> {
    this.#db.exec("UPDATE data_move SET is_done = 1");
    if (this.#db.inTransaction) this.#db.exec("COMMIT");
  }

  async completeTarget(): Promise<void> {
    await this.forget();
  }

  async forget(): Promise<void> {
    this.#db.exec("DROP TABLE IF EXISTS data_move");
  }

  async page(table: CopiedTable, afterKey: CopiedRow | null): Promise<readonly CopiedRow[]> {
    const names = Object.keys(table.columns);
    const values = table.name === "entries" ? names.map(ofMovement) : names;
    const sql = `SELECT ${values.join(", ")} ${nextRowsSql(table, afterKey === null).replaceAll(/\$\d+/g, "?")}`;
    const page: CopiedRow[] = [];
    let chars = 0;
    for (const stored of this.#db
      .prepare<CopiedValue[], CopiedValue[]>(sql)
      .raw()
      .safeIntegers()
      .iterate(...(afterKey ?? []))) {
      const row = table.name === "feed_chunks" ? inLayout(names, stored) : stored;
      page.push(Object.values(table.columns).map((kind, index) => this.#fromColumn(kind, row[index] ?? null)));
      for (const column of table.long) chars += (row[names.indexOf(column)] as string | null)?.length ?? 0;
      if (chars >= PAGE_CHARS) break;
    }
    return page;
  }

  #fromColumn(kind: ColumnKind, value: CopiedValue): CopiedValue {
    if (value === null) return null;
    if (kind === "flag") return value === 1n;
    if (kind === "secret") return this.#box.unseal(value as string) ?? value;
    return value;
  }

  async lastKey(table: CopiedTable): Promise<CopiedRow | null> {
    return this.#db.prepare<[], CopiedValue[]>(lastKeySql(table)).raw().safeIntegers().get() ?? null;
  }

  async append({ name, columns }: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    const names = Object.keys(columns);
    const kinds = Object.values(columns);
    const sql = `INSERT INTO ${name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
    const insert = this.#db.prepare<(string | bigint | null)[]>(sql);
    this.#db.transaction(() => {
      for (const row of rows)
        insert.run(...row.map((value, index) => this.#toColumn(kinds[index] as ColumnKind, value)));
    })();
  }

  #toColumn(kind: ColumnKind, value: CopiedValue): string | bigint | null {
    if (typeof value === "boolean") return value ? 1n : 0n;
    return kind === "secret" && isClear(value) ? this.#box.seal(value) : value;
  }

  async revisions(): Promise<Revisions> {
    const numbers = REVISIONS.map((name) => [
      name,
      this.#db.prepare<[], bigint>(`SELECT revision FROM ${name}`).pluck().safeIntegers().get() ?? 0n,
    ]);
    return Object.fromEntries(numbers) as Revisions;
  }

  async derive(revisions: Revisions): Promise<void> {
    this.#db.transaction(() => {
      for (const name of REVISIONS) this.#db.prepare(`UPDATE ${name} SET revision = ?`).run(revisions[name]);
      rebuildLedgerLines(this.#db);
    })();
  }

  verifyLedger(): Promise<LedgerReport> {
    return verifyLedger(new SqliteTx(new PreparedStatements(this.#db), null));
  }

  async close(): Promise<void> {
    this.#db.close();
    this.#lock.release();
  }

  #note({ id, role, other, isDone }: MoveMark): void {
    this.#db.exec(`DROP TABLE IF EXISTS data_move;
      CREATE TABLE data_move (id TEXT NOT NULL, role TEXT NOT NULL, other TEXT NOT NULL, is_done INTEGER NOT NULL) STRICT`);
    this.#db
      .prepare("INSERT INTO data_move (id, role, other, is_done) VALUES (?, ?, ?, ?)")
      .run(id, role, other, isDone ? 1 : 0);
  }
}

/** Subject and time of a movement are in its first entry alone; in PostgreSQL each entry has them. */
function ofMovement(column: string): string {
  if (column !== "job_id" && column !== "at_ms") return column;
  return `(SELECT first.${column} FROM entries AS first WHERE first.id = entries.txn) AS ${column}`;
}

/** A chunk of an earlier version has all items as JSON and no text. */
function inLayout(names: readonly string[], row: readonly CopiedValue[]): readonly CopiedValue[] {
  const [itemsAt, textAt] = [names.indexOf("items"), names.indexOf("text")];
  if (row[textAt] !== null) return row;
  const { layout, text } = foldItems(itemsOf({ items: row[itemsAt] as string, text: null }));
  return row.with(itemsAt, layout).with(textAt, text);
}

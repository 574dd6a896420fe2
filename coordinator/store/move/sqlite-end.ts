import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { foldItems, unfoldItems } from "../jobs/feed-layout.ts";
import { fileSecrets } from "../secrets/file-secrets.ts";
import { verifyLedger } from "../ledger/ledger.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import { openForWriting, prepareFile } from "../sqlite/engine/connection.ts";
import { migrate } from "../sqlite/engine/migrate.ts";
import { lockForServing } from "../sqlite/engine/serve-lock.ts";
import { prepareOnce, SqliteTx } from "../sqlite/engine/sqlite-tx.ts";
import { rebuildLedgerLines } from "../sqlite/ledger/ledger.ts";
import { MIGRATIONS } from "../sqlite/migrations.ts";
import { WEBHOOK_KEY_FILE } from "../sqlite/sqlite-store.ts";
import type { ColumnKind } from "../steps/table.ts";
import { lastKeySql, nextRowsSql, REVISIONS } from "./copied-tables.ts";
import {
  isClear,
  type CopiedRow,
  type CopiedValue,
  type MigrationEndpoint,
  type Revisions,
} from "./migration-endpoint.ts";
import { readSqliteMark, type MoveMark } from "./move-mark.ts";

/** Maximum number of characters of long columns per page. A single row may exceed it. */
const PAGE_CHARS = 4_000_000;

/** Opens a data directory and creates missing files. @throws {DatabaseError} while a coordinator serves it. */
export async function openSqliteEnd(databaseFile: string, nowMs: number): Promise<MigrationEndpoint> {
  const directory = dirname(databaseFile);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  using opened = new DisposableStack();
  opened.adopt(lockForServing(directory), (lock) => lock.release());
  const db = opened.adopt(openForWriting(prepareFile(databaseFile)), (file) => void file.close());
  migrate(db, MIGRATIONS, nowMs);
  const box = await SecretBox.open(join(directory, WEBHOOK_KEY_FILE));
  const parts = opened.move();

  function note({ id, role, other, isDone }: MoveMark): void {
    db.exec(`DROP TABLE IF EXISTS data_move;
      CREATE TABLE data_move (id TEXT NOT NULL, role TEXT NOT NULL, other TEXT NOT NULL, is_done INTEGER NOT NULL) STRICT`);
    const sql = "INSERT INTO data_move (id, role, other, is_done) VALUES (?, ?, ?, ?)";
    db.prepare(sql).run(id, role, other, isDone ? 1 : 0);
  }

  async function forget(): Promise<void> {
    db.exec("DROP TABLE IF EXISTS data_move");
  }

  function fromColumn(kind: ColumnKind, value: CopiedValue): CopiedValue {
    if (value === null) return null;
    if (kind === "flag") return value === 1n;
    if (kind === "secret") return box.unseal(value as string) ?? value;
    return value;
  }

  function toColumn(kind: ColumnKind, value: CopiedValue): string | bigint | null {
    if (typeof value === "boolean") return value ? 1n : 0n;
    return kind === "secret" && isClear(value) ? box.seal(value) : value;
  }

  return {
    name: directory,
    secrets: fileSecrets(directory),
    completeTarget: forget,
    forget,

    async mark() {
      return readSqliteMark(db);
    },

    async beginSource(mark) {
      note(mark);
      // The lock blocks other processes that have the file open; they wait and then fail.
      db.exec("BEGIN IMMEDIATE");
    },

    async beginTarget(mark) {
      db.transaction(() => {
        note(mark);
        // The row of the network is deleted here because it is copied with the other rows.
        db.exec("DELETE FROM balances");
      })();
    },

    async completeSource() {
      db.exec("UPDATE data_move SET is_done = 1");
      if (db.inTransaction) db.exec("COMMIT");
    },

    async page(table, afterKey) {
      const { name, columns, kinds, long } = table;
      const values = name === "entries" ? columns.map(selectFromMovement) : columns;
      const sql = `SELECT ${values.join(", ")} ${nextRowsSql(table, afterKey === null).replaceAll(/\$\d+/g, "?")}`;
      const select = db.prepare<CopiedValue[], CopiedValue[]>(sql).raw().safeIntegers();
      const page: CopiedRow[] = [];
      let chars = 0;
      for (const stored of select.iterate(...(afterKey ?? []))) {
        const row = name === "feed_chunks" ? toLayout(columns, stored) : stored;
        page.push(kinds.map((kind, index) => fromColumn(kind, row[index] ?? null)));
        for (const column of long) chars += (row[columns.indexOf(column)] as string | null)?.length ?? 0;
        if (chars >= PAGE_CHARS) break;
      }
      return page;
    },

    async lastKey(table) {
      return db.prepare<[], CopiedValue[]>(lastKeySql(table)).raw().safeIntegers().get() ?? null;
    },

    async append({ name, columns, kinds }, rows) {
      const sql = `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
      const insert = db.prepare<(string | bigint | null)[]>(sql);
      db.transaction(() => {
        for (const row of rows) insert.run(...row.map((value, index) => toColumn(kinds[index] as ColumnKind, value)));
      })();
    },

    async revisions() {
      const numbers = REVISIONS.map((name) => [
        name,
        db.prepare<[], bigint>(`SELECT revision FROM ${name}`).pluck().safeIntegers().get() ?? 0n,
      ]);
      return Object.fromEntries(numbers) as Revisions;
    },

    async derive(revisions) {
      db.transaction(() => {
        for (const name of REVISIONS) db.prepare(`UPDATE ${name} SET revision = ?`).run(revisions[name]);
        rebuildLedgerLines(db);
      })();
    },

    verifyLedger: () => verifyLedger(new SqliteTx(prepareOnce(db), null)),

    async close() {
      parts.dispose();
    },
  };
}

/**
 * Returns SQL for a column of an entry. Job and time come from the movement's first entry, the only entry that contains
 * them.
 */
function selectFromMovement(column: string): string {
  if (column !== "job_id" && column !== "at_ms") return column;
  return `(SELECT first.${column} FROM entries AS first WHERE first.id = entries.txn) AS ${column}`;
}

/** Converts a feed chunk of an earlier version, which has all items as JSON and no text, to layout and text. */
function toLayout(names: readonly string[], row: readonly CopiedValue[]): readonly CopiedValue[] {
  const [itemsAt, textAt] = [names.indexOf("items"), names.indexOf("text")];
  if (row[textAt] !== null) return row;
  const { layout, text } = foldItems(unfoldItems({ items: row[itemsAt] as string, text: null }));
  return row.with(itemsAt, layout).with(textAt, text);
}

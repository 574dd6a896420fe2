import pg from "pg";
import type { Clock } from "../../../shared/clock.ts";
import { DatabaseError } from "../database-error.ts";
import { verifyLedger } from "../ledger/ledger.ts";
import { clientConfig, countUsers } from "../postgres/engine/connection.ts";
import { openDatabase } from "../postgres/engine/database.ts";
import { migrate } from "../postgres/engine/migrate.ts";
import { withoutPassword } from "../../../shared/without-password.ts";
import { toOpeningError } from "../postgres/engine/storage-fault.ts";
import { PostgresTx } from "../postgres/engine/postgres-steps.ts";
import { MIGRATIONS } from "../postgres/migrations.ts";
import { postgresSecrets } from "../postgres/secrets/postgres-secrets.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import type { DatabaseLocation } from "../store-location.ts";
import { columnType } from "../steps/schema.ts";
import { encodeText, decodeText, type ColumnKind } from "../steps/table.ts";
import { COPIED_TABLES, lastKeySql, nextRowsSql, REVISIONS, type CopiedTable } from "./copied-tables.ts";
import { isClear, type CopiedValue, type MigrationEndpoint, type Revisions } from "./migration-endpoint.ts";
import { readPostgresMark, type MoveMark } from "./move-mark.ts";

/** Maximum page size in bytes of long columns as stored, possibly compressed. A single row may exceed it. */
const PAGE_BYTES = 1_000_000;
/** Key of the advisory lock that prevents concurrent migrations of one database; the number is arbitrary. */
const LOCK = 7_265_014;
const CLIENT_NAME = "move of atoll";

/**
 * SQL for the columns that only PostgreSQL has. Unfinished jobs become unowned, so that the first coordinator adopts
 * them. Jobs have a quota slot, except waiting jobs of a batch, which take one when it is free.
 */
const OWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jobs: {
    owner_id: "'none'",
    has_place: "given.completed_at_ms IS NULL AND (given.batch_id IS NULL OR given.state <> 'pending')",
  },
  balances: {
    job_places: `(SELECT count(*) FROM jobs
      WHERE given.party LIKE 'client:%' AND account_id = substr(given.party, 8) AND completed_at_ms IS NULL AND has_place)`,
  },
};

/** SQL: a balance. The network's balance includes its pending moves. */
const NETWORK_MICRO = `CASE party WHEN 'network' THEN micro + (SELECT coalesce(sum(micro), 0)::bigint FROM network_moves) ELSE micro END`;

const INT4 = 23;
const INT8 = 20;
/** Parsers that return integers of all sizes as exact bigints. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 || oid === INT4 ? BigInt : pg.types.getTypeParser(oid, format),
};

/** Opens a database and creates missing tables. @throws {DatabaseError} during another migration. */
export async function openPostgresEnd({ address, key }: DatabaseLocation, clock: Clock): Promise<MigrationEndpoint> {
  const shown = withoutPassword(address);
  // Statements have no time limit: copies may take long, and no other session waits for these locks.
  const noTimeouts = { query_timeout: 0, statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
  const client = new pg.Client({ ...clientConfig(address, CLIENT_NAME), ...noTimeouts, types });
  // The listener prevents an exit; the current or next statement rejects with the error.
  client.on("error", () => undefined);
  try {
    await migrate(address, MIGRATIONS, clock.now());
    await client.connect();
    const { rows } = await client.query<{ has: boolean }>("SELECT pg_try_advisory_lock($1) AS has", [LOCK]);
    if (rows[0]?.has !== true)
      throw new DatabaseError(shown, "another move of the data is running. Wait until it has finished");
  } catch (error) {
    await client.end().catch(() => undefined);
    throw toOpeningError(error, address);
  }
  const db = openDatabase(address, clock);
  const box = new SecretBox(key);

  async function note({ id, role, other, isDone }: MoveMark): Promise<void> {
    await forget();
    await client.query(
      "CREATE TABLE data_move (id text NOT NULL, role text NOT NULL, other text NOT NULL, is_done boolean NOT NULL)",
    );
    const sql = "INSERT INTO data_move (id, role, other, is_done) VALUES ($1, $2, $3, $4)";
    await client.query(sql, [id, role, other, isDone]);
  }

  async function forget(): Promise<void> {
    await client.query("DROP TABLE IF EXISTS data_move");
  }

  function fromColumn(kind: ColumnKind, value: CopiedValue): CopiedValue {
    if (typeof value !== "string") return value;
    // A lone surrogate cannot be encoded in UTF-8, so SQLite cannot store it.
    if (kind === "written" || kind === "inner") return (decodeText(kind, value) as string).toWellFormed();
    return kind === "secret" ? (box.unseal(value) ?? value) : value;
  }

  function toColumn(kind: ColumnKind, value: CopiedValue): CopiedValue {
    if (typeof value !== "string") return value;
    if (kind === "written" || kind === "inner") return encodeText(kind, value);
    return kind === "secret" && isClear(value) ? box.seal(value) : value;
  }

  return {
    name: shown,
    secrets: postgresSecrets(db, box),
    mark: () => readPostgresMark(client),
    forget,

    async beginSource(mark) {
      const before = await readPostgresMark(client);
      await note(mark);
      // Any session that opens the database from now on sees the mark.
      const inUse = await countUsers(client);
      if (inUse > 0) {
        if (before === null) await forget();
        const text = `${inUse} connections of coordinators or commands use the database. Stop them first`;
        throw new DatabaseError(shown, text);
      }
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    },

    async beginTarget(mark) {
      await client.query("BEGIN");
      try {
        await note(mark);
        // The row of the network is deleted here because it is copied with the other rows.
        await client.query("DELETE FROM balances");
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK").catch(() => undefined);
        throw error;
      }
    },

    async completeSource() {
      await client.query("COMMIT");
      await client.query("UPDATE data_move SET is_done = true");
    },

    async completeTarget() {
      await client.query("ANALYZE");
      await forget();
    },

    async page(table, afterKey) {
      const { kinds } = table;
      const { rows } = await client.query<CopiedValue[]>({
        text: pageSql(table, afterKey === null),
        values: [...(afterKey ?? [])],
        rowMode: "array",
      });
      return rows.map((row) => row.map((value, index) => fromColumn(kinds[index] as ColumnKind, value)));
    },

    async lastKey(table) {
      const { rows } = await client.query<CopiedValue[]>({ text: lastKeySql(table), rowMode: "array" });
      return rows[0] ?? null;
    },

    async append({ name, columns, kinds }, rows) {
      const own = Object.entries(OWN[name] ?? {});
      const lists = kinds.map((kind, index) => `$${index + 1}::${columnType(kind, "postgres")}[]`).join(", ");
      await client.query(
        `INSERT INTO ${name} (${[...columns, ...own.map(([column]) => column)].join(", ")}) OVERRIDING SYSTEM VALUE
         SELECT ${["given.*", ...own.map(([, value]) => value)].join(", ")} FROM unnest(${lists}) AS given (${columns.join(", ")})`,
        kinds.map((kind, index) => rows.map((row) => toColumn(kind, row[index] ?? null))),
      );
    },

    async revisions() {
      const sql = `SELECT ${REVISIONS.map((name) => `(SELECT revision FROM ${name}) AS ${name}`).join(", ")}`;
      const { rows } = await client.query<Revisions>(sql);
      return rows[0] as Revisions;
    },

    async derive(revisions) {
      for (const name of REVISIONS) await client.query(`UPDATE ${name} SET revision = $1`, [revisions[name]]);
      for (const { name, counter } of COPIED_TABLES) {
        if (counter === undefined) continue;
        await client.query(
          `SELECT setval(pg_get_serial_sequence('${name}', '${counter}'), max(${counter})) FROM ${name} HAVING max(${counter}) > 0`,
        );
      }
    },

    verifyLedger: () => db.transact((session) => verifyLedger(new PostgresTx(session, "")), "REPEATABLE READ"),

    async close() {
      await db.close();
      await client.end();
    },
  };
}

function pageSql(table: CopiedTable, isFirst: boolean): string {
  const { name, columns, key, long } = table;
  const rows = nextRowsSql(table, isFirst);
  if (long.length === 0) {
    const values = columns.map((column) =>
      name === "balances" && column === "micro" ? `${NETWORK_MICRO} AS micro` : column,
    );
    return `SELECT ${values.join(", ")} ${rows}`;
  }
  const bytes = long.map((column) => `coalesce(pg_column_size(${column}), 0)`).join(" + ");
  const before = `sum(bytes) OVER (ORDER BY ${key.join(", ")} ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before`;
  return `SELECT ${columns.join(", ")} FROM (
      SELECT *, ${before} FROM (SELECT ${columns.join(", ")}, ${bytes} AS bytes ${rows}) AS sized) AS page
    WHERE bytes_before < ${PAGE_BYTES} ORDER BY ${key.join(", ")}`;
}

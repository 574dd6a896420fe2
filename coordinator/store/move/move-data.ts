import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../shared/clock.ts";
import type { LedgerReport } from "../ledger/ledger.ts";
import { DatabaseError } from "../database-error.ts";
import { DATABASE_FILE } from "../open-store.ts";
import { SECRET_NAMES } from "../secrets/shared-secrets.ts";
import type { StoreLocation } from "../store-location.ts";
import { COPIED_TABLES, type CopiedTable } from "./copied-tables.ts";
import { keyOf, pagesOf, type CopiedRow, type MigrationEndpoint } from "./migration-endpoint.ts";
import type { MoveMark } from "./move-mark.ts";
import { openSqliteEnd } from "./sqlite-end.ts";

export interface MoveReport {
  /** Number of copied rows by table, without empty tables. */
  readonly rows: Readonly<Record<string, number>>;
  readonly ledger: LedgerReport;
}

/** Opens an endpoint and creates missing files and tables. @throws {DatabaseError} while it is in use. */
export async function openEnd(location: StoreLocation, clock: Clock): Promise<MigrationEndpoint> {
  if (typeof location === "string") return openSqliteEnd(join(location, DATABASE_FILE), clock.now());
  const { openPostgresEnd } = await import("./postgres-end.ts");
  return openPostgresEnd(location, clock);
}

/** Receives a message about each step, for display. */
type OnStep = (step: string) => void;

/**
 * Migrates all data, then compares every row, the secrets and the ledger. Continues an interrupted migration. Neither
 * endpoint can be opened until the migration is complete; afterwards only the target can.
 * @throws {DatabaseError} if an endpoint is in use, the target is not empty, or something differs.
 */
export async function moveData(from: MigrationEndpoint, to: MigrationEndpoint, onStep: OnStep): Promise<MoveReport> {
  const [left, begun] = [await from.mark(), await to.mark()];
  await assertCanMove(from, to, left, begun);
  const id = left?.id ?? randomUUID();
  if (left?.isDone !== true) {
    await from.beginSource({ id, role: "source", other: to.name, isDone: false });
    if (begun === null) await to.beginTarget({ id, role: "target", other: from.name, isDone: false });
    await copyAll(from, to, onStep);
  }
  const report = await verify(from, to, onStep);
  // With this order, source and target can never both be opened.
  if (left?.isDone !== true) await from.completeSource();
  await to.completeTarget();
  return report;
}

async function assertCanMove(
  from: MigrationEndpoint,
  to: MigrationEndpoint,
  left: MoveMark | null,
  begun: MoveMark | null,
): Promise<void> {
  const refuse = ({ name }: MigrationEndpoint, reason: string): never => {
    throw new DatabaseError(name, reason);
  };
  if (left?.role === "target")
    refuse(from, `contains only part of the data of ${left.other}. Complete that move first`);
  if (left !== null && left.id === begun?.id) return;
  if (left?.isDone === true) refuse(from, `the data was already moved to ${left.other}. Use that database`);
  if (left !== null && left.other !== to.name)
    refuse(from, `a move of the data to ${left.other} is not complete. Complete it, or cancel it with --abandon`);
  if (begun !== null) refuse(to, "belongs to another move. Use an empty database");
  for (const table of COPIED_TABLES) {
    if (table.name === "balances" || (await to.lastKey(table)) === null) continue;
    refuse(to, `must be empty, but it has rows in ${table.name}. Use a new database or directory`);
  }
  for (const name of SECRET_NAMES) {
    if ((await to.secrets.read(name)) === null) continue;
    refuse(to, "must be empty, but it has secrets of a coordinator. Use a new database or directory");
  }
}

async function copyAll(from: MigrationEndpoint, to: MigrationEndpoint, onStep: OnStep): Promise<void> {
  for (const table of COPIED_TABLES) {
    let rows = 0;
    for await (const page of pagesOf(from, table, await to.lastKey(table))) {
      await to.append(table, page);
      rows += page.length;
    }
    if (rows > 0) onStep(`${table.name}: ${rows} rows copied`);
  }
  await to.derive(await from.revisions());
  for (const name of SECRET_NAMES) {
    const secret = await from.secrets.read(name);
    if (secret !== null) await to.secrets.replace(name, secret);
  }
}

async function verify(from: MigrationEndpoint, to: MigrationEndpoint, onStep: OnStep): Promise<MoveReport> {
  onStep("Comparing every row");
  const rows: Record<string, number> = {};
  for (const table of COPIED_TABLES) {
    const count = await compareTable(from, to, table);
    if (count > 0) rows[table.name] = count;
  }
  const differs = (what: string): never => {
    throw new DatabaseError(to.name, `${what} differ from those in ${from.name}. Empty it and move the data again`);
  };
  if (!isDeepStrictEqual(await to.revisions(), await from.revisions())) differs("revisions");
  for (const name of SECRET_NAMES) {
    const [here, there] = [await from.secrets.read(name), await to.secrets.read(name)];
    if (!isDeepStrictEqual(here, there)) differs("secrets");
  }
  const [ledger, before] = [await to.verifyLedger(), await from.verifyLedger()];
  if (!isDeepStrictEqual(ledger, before)) differs("ledger sums");
  return { rows, ledger };
}

/** Compares a table row by row. Resolves with the number of rows. @throws {DatabaseError} at the first difference. */
async function compareTable(from: MigrationEndpoint, to: MigrationEndpoint, table: CopiedTable): Promise<number> {
  const copies = rowsOf(to, table);
  let count = 0;
  for await (const page of pagesOf(from, table)) {
    for (const row of page) {
      const copy = (await copies.next()).value;
      if (copy === undefined || !row.every((value, index) => value === copy[index])) throw difference(to, table, row);
      count += 1;
    }
  }
  const more = await copies.next();
  if (more.done !== true) throw difference(to, table, more.value);
  return count;
}

async function* rowsOf(end: MigrationEndpoint, table: CopiedTable): AsyncGenerator<CopiedRow, undefined, void> {
  for await (const page of pagesOf(end, table)) yield* page;
}

function difference(to: MigrationEndpoint, table: CopiedTable, row: CopiedRow): DatabaseError {
  const found = `row ${keyOf(table, row).join(" ")} of ${table.name} differs from the original`;
  return new DatabaseError(to.name, `${found}. Empty the database and move the data again`);
}

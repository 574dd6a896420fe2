import { earningsCursorTable, usageCursorTable } from "../ledger/entries-cursor.ts";
import { balanceTable, entryTable, ledgerLineTable, ledgerNoteTable, networkMoveTable } from "../ledger/ledger.ts";
import type { Migration } from "./migrations.ts";
import { accountTable, emailChangeTable, passwordResetTable, signUpTable } from "../accounts/accounts.ts";
import { auditLogTable } from "../accounts/audit-log.ts";
import {
  cargoApprovalTable,
  cargoNumberTable,
  cargoPriceTable,
  cargoTable,
  catalogRevisionTable,
  disabledCargoTable,
} from "../catalog.ts";
import { removalTable } from "../jobs/content.ts";
import { conversationTable, messageTable } from "../conversations.ts";
import { credentialEndTable, credentialsRevisionTable } from "../accounts/credential-changes.ts";
import { apiKeyTable, keyNumberTable, keySpendingTable, sessionTable } from "../accounts/credentials.ts";
import { fileBatchTable } from "../files/file-batches.ts";
import { fileBlobTable, fileHoldTable, fileTable } from "../files/files.ts";
import { islandDayTable, islandEarningTable } from "../ledger/host-metrics.ts";
import { islandTokenTable, pairingCodeTable } from "../island-tokens.ts";
import { islandTable } from "../islands.ts";
import {
  batchTable,
  feedChunkTable,
  idempotencyKeyTable,
  jobFeedTable,
  jobInputTable,
  jobOutputTable,
  jobTable,
  largePieceTable,
} from "../jobs/job-tables.ts";
import { announcementTable, suspendedIslandTable } from "../accounts/operators.ts";
import { usageTable } from "../ledger/usage.ts";
import { webhookTable } from "../jobs/webhooks.ts";
import { auditTable, standingTable } from "../audits.ts";
import { columnName, type Column, type ColumnKind, type PerEngine, type Table, type TableRules } from "./table.ts";
import type { Dialect } from "./tx.ts";

type NamedColumns = readonly (readonly [member: string, column: Column])[];

const POSTGRES_TYPES: Readonly<Partial<Record<ColumnKind, string>>> = {
  integer: "bigint",
  small: "int",
  flag: "boolean",
};

export function columnType(kind: ColumnKind, dialect: Dialect): string {
  const type = POSTGRES_TYPES[kind];
  if (dialect === "postgres") return type ?? "text";
  return type === undefined ? "TEXT" : "INTEGER";
}

/** All tables of the steps, in an order that foreign keys allow. */
export const TABLES: readonly Table[] = [
  accountTable,
  apiKeyTable,
  keySpendingTable,
  sessionTable,
  emailChangeTable,
  passwordResetTable,
  signUpTable,
  islandTokenTable,
  pairingCodeTable,
  islandTable,
  suspendedIslandTable,
  announcementTable,
  auditLogTable,
  islandDayTable,
  islandEarningTable,
  cargoNumberTable,
  cargoTable,
  cargoApprovalTable,
  disabledCargoTable,
  cargoPriceTable,
  catalogRevisionTable,
  batchTable,
  jobTable,
  jobInputTable,
  jobOutputTable,
  feedChunkTable,
  jobFeedTable,
  largePieceTable,
  idempotencyKeyTable,
  webhookTable,
  conversationTable,
  messageTable,
  fileBlobTable,
  fileTable,
  fileHoldTable,
  fileBatchTable,
  removalTable,
  usageTable,
  credentialsRevisionTable,
  credentialEndTable,
  keyNumberTable,
  balanceTable,
  entryTable,
  ledgerNoteTable,
  ledgerLineTable,
  networkMoveTable,
  earningsCursorTable,
  usageCursorTable,
  auditTable,
  standingTable,
];

/** Migrations after the baseline, from version 2. Their SQL follows from `since` of columns and tables. */
const LATER: readonly Omit<Migration, "version" | "sql">[] = [
  { name: "speeds of Islands", oldest: 1 },
  { name: "rates of jobs, and audits", oldest: 2 },
  { name: "terms of jobs, trust of API keys, and refused audits", oldest: 3 },
  { name: "jobs with a rowid", oldest: 4 },
];

/** Returns all migrations. `rest`: statements of the baseline after the tables. */
export function migrationsOf(dialect: Dialect, rest: string): readonly Migration[] {
  const first = TABLES.filter(({ rules }) => rules.since === undefined);
  const baseline = [...first.map((table) => tableSql(table, dialect, undefined)), rest].join("\n");
  return [
    { version: 1, name: "baseline", sql: baseline },
    ...LATER.map((migration, index) => {
      const version = index + 2;
      const added = TABLES.map((table) => addedSql(table, dialect, version)).filter((sql) => sql !== "");
      return { ...migration, version, sql: added.join("\n") };
    }),
  ];
}

/** Returns CREATE statements of a table; empty for an engine without it. `version`: migration that adds the table. */
function tableSql(table: Table, dialect: Dialect, version: number | undefined): string {
  const { name, definition, rules } = table;
  if (rules.since !== version || (rules.onlyIn ?? dialect) !== dialect) return "";
  const columns = columnsIn(definition, dialect).filter(([, { since }]) => since === undefined);
  const created = createSql(name, columns, rules, dialect);
  return statements(`${created}${optionsSql(rules, dialect)}`, ...indexesSql(rules, dialect));
}

function createSql(name: string, columns: NamedColumns, { rules = [] }: TableRules, dialect: Dialect): string {
  const lines = [...columns.map(([member, column]) => columnSql(member, column, dialect)), ...rules];
  return `CREATE TABLE ${name} (\n  ${lines.join(",\n  ")}\n)`;
}

function indexesSql({ indexes = [] }: TableRules, dialect: Dialect): string[] {
  return indexes.map((index) => sqlOf(index, dialect)).filter((sql) => sql !== "");
}

/** Returns the statements of a migration that give a SQLite table a rowid: its rows move to a new table. */
function rowidSql({ name, definition, rules }: Table, version: number): string {
  const columns = columnsIn(definition, "sqlite").filter(([, { since = 1 }]) => since <= version);
  const names = columns.map(([member, column]) => columnName(member, column)).join(", ");
  return statements(
    `${createSql(`new_${name}`, columns, rules, "sqlite")} STRICT`,
    `INSERT INTO new_${name} (${names}) SELECT ${names} FROM ${name}`,
    `DROP TABLE ${name}`,
    `ALTER TABLE new_${name} RENAME TO ${name}`,
    ...indexesSql(rules, "sqlite"),
  );
}

function statements(...all: readonly string[]): string {
  return all.map((sql) => `${sql};`).join("\n");
}

function addedSql(table: Table, dialect: Dialect, version: number): string {
  const columns = columnsIn(table.definition, dialect).filter(([, { since }]) => since === version);
  const added = columns.map(
    ([member, column]) => `ALTER TABLE ${table.name} ADD COLUMN ${columnSql(member, column, dialect)};`,
  );
  const moved = dialect === "sqlite" && table.rules.hasRowid === version ? rowidSql(table, version) : "";
  return [tableSql(table, dialect, version), ...added, moved].filter((sql) => sql !== "").join("\n");
}

function columnsIn(definition: Table["definition"], dialect: Dialect): NamedColumns {
  return Object.entries(definition).filter(([, { onlyIn = dialect }]) => onlyIn === dialect);
}

function columnSql(member: string, column: Column, dialect: Dialect): string {
  const { kind, isNullable, rule, definedAs } = column;
  const name = columnName(member, column);
  const whole = definedAs?.[dialect];
  if (whole !== undefined) return `${name} ${whole}`;
  const ruled = sqlOf(rule, dialect);
  // A primary key never contains null.
  const notNull = isNullable || ruled.startsWith("PRIMARY KEY") ? "" : "NOT NULL";
  const check = kind === "flag" && dialect === "sqlite" ? `CHECK (${name} IN (0, 1))` : "";
  // Comparison by bytes, as in SQLite.
  const collation = kind === "key" && dialect === "postgres" ? 'COLLATE "C"' : "";
  return [name, columnType(kind, dialect), collation, notNull, ruled, check].filter((part) => part !== "").join(" ");
}

function sqlOf(sql: PerEngine, dialect: Dialect): string {
  return typeof sql === "string" ? sql : (sql[dialect] ?? "");
}

function optionsSql({ hasRowid, fillfactor }: TableRules, dialect: Dialect): string {
  if (dialect === "sqlite") return hasRowid === true ? " STRICT" : " STRICT, WITHOUT ROWID";
  return fillfactor === undefined ? "" : ` WITH (fillfactor = ${fillfactor})`;
}

import { accountTable, emailChangeTable, passwordResetTable, signUpTable } from "./accounts.ts";
import { auditLogTable } from "./audit-log.ts";
import {
  cargoApprovalTable,
  cargoNumberTable,
  cargoPriceTable,
  cargoTable,
  catalogRevisionTable,
  disabledCargoTable,
} from "./catalog.ts";
import { removalTable } from "./content.ts";
import { conversationTable, messageTable } from "./conversations.ts";
import { credentialEndTable, credentialsRevisionTable } from "./credential-changes.ts";
import { apiKeyTable, keySpendingTable, sessionTable } from "./credentials.ts";
import { fileBatchTable } from "./file-batches.ts";
import { fileBlobTable, fileHoldTable, fileTable } from "./files.ts";
import { islandDayTable, islandEarningTable } from "./host-figures.ts";
import { islandTokenTable, pairingCodeTable } from "./island-tokens.ts";
import { islandTable } from "./islands.ts";
import {
  batchTable,
  feedChunkTable,
  idempotencyKeyTable,
  jobFeedTable,
  jobInputTable,
  jobOutputTable,
  jobTable,
  largePieceTable,
} from "./job-tables.ts";
import { announcementTable, suspendedIslandTable } from "./operators.ts";
import { usageTable } from "./usage.ts";
import { webhookTable } from "./webhooks.ts";
import { columnName, type Column, type ColumnKind, type PerEngine, type Table } from "./table.ts";
import type { Dialect } from "./tx.ts";

const TYPES: Readonly<Record<Dialect, Readonly<Record<ColumnKind, string>>>> = {
  sqlite: {
    key: "TEXT",
    text: "TEXT",
    integer: "INTEGER",
    small: "INTEGER",
    flag: "INTEGER",
    json: "TEXT",
    written: "TEXT",
    inner: "TEXT",
    secret: "TEXT",
  },
  postgres: {
    key: 'text COLLATE "C"',
    text: "text",
    integer: "bigint",
    small: "int",
    flag: "boolean",
    json: "text",
    written: "text",
    inner: "text",
    secret: "text",
  },
};

/** All tables that steps use, in an order that foreign keys allow. */
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
];

/** The statements that make the table and its indexes. */
export function definitionOf({ name, definition, rules }: Table, dialect: Dialect): string {
  const columns = Object.entries(definition)
    .filter(([, { onlyIn }]) => onlyIn === undefined || onlyIn === dialect)
    .map(([member, column]) => `${columnName(member, column)} ${definitionOfColumn(member, column, dialect)}`);
  const lines = [...columns, ...(rules.rules ?? [])].join(",\n  ");
  const indexes = (rules.indexes ?? []).map((index) => sqlOf(index, dialect)).filter((sql) => sql !== "");
  return [`CREATE TABLE ${name} (\n  ${lines}\n)${optionsOf(rules, dialect)}`, ...indexes].join(";\n") + ";";
}

function definitionOfColumn(member: string, column: Column, dialect: Dialect): string {
  const { kind, isNullable, rule, definedAs } = column;
  const whole = definedAs?.[dialect];
  if (whole !== undefined) return whole;
  const check = kind === "flag" && dialect === "sqlite" ? `CHECK (${columnName(member, column)} IN (0, 1))` : "";
  return [TYPES[dialect][kind], isNullable ? "" : "NOT NULL", sqlOf(rule, dialect), check]
    .filter((part) => part !== "")
    .join(" ");
}

function sqlOf(sql: PerEngine, dialect: Dialect): string {
  return typeof sql === "string" ? sql : (sql[dialect] ?? "");
}

function optionsOf({ hasRowid, fillfactor }: Table["rules"], dialect: Dialect): string {
  if (dialect === "sqlite") return hasRowid === true ? " STRICT" : " STRICT, WITHOUT ROWID";
  return fillfactor === undefined ? "" : ` WITH (fillfactor = ${fillfactor})`;
}

import { join } from "node:path";
import Database from "better-sqlite3";
import { hashSecret, newSecret, secretPrefix } from "../../../coordinator/accounts/secrets.ts";
import type { AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import type { DatabaseLocation, StoreLocation } from "../../../coordinator/store/store-location.ts";
import { newId } from "../../../shared/ids.ts";
import { runSql } from "./test-store.ts";

/** Hash of "correct horse". Computing one takes 0.1 s of a core. */
export const PASSWORD_HASH = "scrypt$32768$8$1$7R4myyp1h2B+lPNx3gOcWA==$An7lLFiBqrzGeHxcXauK6DFDZkg8sIBWunieoEDpqX8=";
const MICRO_PER_CREDIT = 1_000_000;

export interface NewAccount {
  readonly id: string;
  readonly key: string;
  readonly islandToken: string;
}

type Row = Readonly<Record<string, string | number | null>>;

/**
 * Writes an account with the password "correct horse", an API key and an Island token into a coordinator's store, even
 * while a coordinator runs on it. The commands for this would take five processes, and
 * `test/e2e/commands/cli.integration.test.ts` tests them.
 */
export function insertAccount(
  location: StoreLocation,
  email: string,
  credits: number,
  limits: Partial<AccountLimits> = {},
): NewAccount {
  const nowMs = Date.now();
  const id = newId("user", nowMs);
  const [key, islandToken] = [newSecret("ak"), newSecret("it")];
  // Texts of PostgreSQL cannot contain NUL, so the database stores names from clients as JSON.
  const named = (name: string): string => (typeof location === "string" ? name : JSON.stringify(name));
  const rows: readonly (readonly [table: string, row: Row])[] = [
    [
      "accounts",
      {
        id,
        email,
        email_key: email.toLowerCase(),
        password_hash: PASSWORD_HASH,
        created_at_ms: nowMs,
        requests_per_minute: limits.requestsPerMinute ?? null,
        concurrent_jobs: limits.concurrentJobs ?? null,
        concurrent_streams: limits.concurrentStreams ?? null,
        share: limits.share ?? null,
      },
    ],
    ["balances", { party: `client:${id}`, micro: 0 }],
    ["balances", { party: `hold:${id}`, micro: 0 }],
    [
      "api_keys",
      {
        id: newId("key", nowMs),
        account_id: id,
        name: named("API key"),
        prefix: secretPrefix(key),
        scopes: "read,write",
        secret_hash: hashSecret(key),
        created_at_ms: nowMs,
      },
    ],
    [
      "island_tokens",
      {
        id: newId("itk", nowMs),
        account_id: id,
        name: named("test"),
        token_hash: hashSecret(islandToken),
        created_at_ms: nowMs,
      },
    ],
  ];
  const micro = BigInt(Math.round(credits * MICRO_PER_CREDIT));
  if (typeof location === "string") insertIntoFile(location, rows, id, micro, nowMs);
  else insertIntoDatabase(location, rows, id, micro, nowMs);
  return { id, key, islandToken };
}

function insertIntoFile(
  dataDirectory: string,
  rows: readonly (readonly [string, Row])[],
  id: string,
  micro: bigint,
  nowMs: number,
): void {
  const db = new Database(join(dataDirectory, "atoll.db"), { timeout: 5_000, fileMustExist: true });
  db.pragma("foreign_keys = ON");
  const write = db.transaction(() => {
    for (const [table, row] of rows) {
      const names = Object.keys(row);
      db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`).run(row);
    }
    grant(db, id, micro, nowMs);
  });
  try {
    write.immediate();
  } finally {
    db.close();
  }
}

function insertIntoDatabase(
  location: DatabaseLocation,
  rows: readonly (readonly [string, Row])[],
  id: string,
  micro: bigint,
  nowMs: number,
): void {
  const statements = rows.map(
    ([table, row]) =>
      `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
        .map(() => "?")
        .join()})`,
  );
  if (micro !== 0n) {
    statements.push(
      `INSERT INTO network_moves (micro) VALUES (-${micro})`,
      `UPDATE balances SET micro = micro + ${micro} WHERE party = 'client:${id}'`,
      `WITH first AS MATERIALIZED (SELECT nextval('entries_id_seq') AS id)
       INSERT INTO entries (id, txn, party, micro, kind, at_ms)
       SELECT CASE n WHEN 1 THEN first.id ELSE nextval('entries_id_seq') END, first.id, party, micro, 'grant', ${nowMs}
       FROM first, (VALUES (1, 'network', -${micro}), (2, 'client:${id}', ${micro})) AS posting (n, party, micro) ORDER BY n`,
    );
  }
  runSql(location, statements.join(";\n"), ...rows.flatMap(([, row]) => Object.values(row)));
}

/** Writes two entries that sum to zero, and the balances that result. */
function grant(db: Database.Database, accountId: string, micro: bigint, atMs: number): void {
  if (micro === 0n) return;
  const last = db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM entries").pluck().get() ?? 0;
  const entry = db.prepare(
    "INSERT INTO entries (id, txn, party, micro, kind, job_id, at_ms) VALUES (?, ?, ?, ?, 'grant', NULL, ?)",
  );
  const balance = db.prepare("UPDATE balances SET micro = micro + ? WHERE party = ?");
  for (const [index, [party, moved]] of [
    ["network", -micro] as const,
    [`client:${accountId}`, micro] as const,
  ].entries()) {
    entry.run(last + 1 + index, last + 1, party, moved, atMs);
    balance.run(moved, party);
  }
}

/** Returns the account that owns an Island token. */
export function accountOfToken(location: StoreLocation, token: string): string {
  const [found] = runSql(location, "SELECT account_id FROM island_tokens WHERE token_hash = ?", hashSecret(token));
  if (found === undefined) throw new Error("The Island token is not in the database");
  return (found as { account_id: string }).account_id;
}

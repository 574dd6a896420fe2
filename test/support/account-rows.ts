import { join } from "node:path";
import Database from "better-sqlite3";
import { hashSecret, newSecret, secretPrefix } from "../../coordinator/accounts/secrets.ts";
import type { AccountLimits } from "../../coordinator/store/account-store.ts";
import { newId } from "../../shared/ids.ts";

/** Of "correct horse". Making one takes 0.1 s of a core. */
export const PASSWORD_HASH = "scrypt$32768$8$1$7R4myyp1h2B+lPNx3gOcWA==$An7lLFiBqrzGeHxcXauK6DFDZkg8sIBWunieoEDpqX8=";
const MICRO_PER_CREDIT = 1_000_000;

export interface NewAccount {
  readonly id: string;
  readonly key: string;
  readonly islandToken: string;
}

/**
 * Writes an account with the password "correct horse", an API key and an Island token into a coordinator's database, beside the
 * coordinator that may be running on it. The commands that make them take five processes; `test/e2e/cli.integration.test.ts` tests
 * those.
 */
export function insertAccount(
  dataDirectory: string,
  email: string,
  credits: number,
  limits: Partial<AccountLimits> = {},
): NewAccount {
  const nowMs = Date.now();
  const id = newId("user", nowMs);
  const [key, islandToken] = [newSecret("ak"), newSecret("it")];
  const db = new Database(join(dataDirectory, "atoll.db"), { timeout: 5_000, fileMustExist: true });
  db.pragma("foreign_keys = ON");
  const insert = (table: string, row: Record<string, string | number | null>): void => {
    const names = Object.keys(row);
    db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`).run(row);
  };
  const write = db.transaction(() => {
    insert("accounts", {
      id,
      email,
      email_key: email.toLowerCase(),
      password_hash: PASSWORD_HASH,
      created_at_ms: nowMs,
      requests_per_minute: limits.requestsPerMinute ?? null,
      concurrent_jobs: limits.concurrentJobs ?? null,
      concurrent_streams: limits.concurrentStreams ?? null,
      share: limits.share ?? null,
    });
    insert("balances", { party: `client:${id}`, micro: 0 });
    insert("balances", { party: `hold:${id}`, micro: 0 });
    grant(db, id, BigInt(Math.round(credits * MICRO_PER_CREDIT)), nowMs);
    insert("api_keys", {
      id: newId("key", nowMs),
      account_id: id,
      name: "API key",
      prefix: secretPrefix(key),
      scopes: "read,write",
      secret_hash: hashSecret(key),
      created_at_ms: nowMs,
    });
    const token = { id: newId("itk", nowMs), account_id: id, name: "test", token_hash: hashSecret(islandToken) };
    insert("island_tokens", { ...token, created_at_ms: nowMs });
  });
  try {
    write.immediate();
  } finally {
    db.close();
  }
  return { id, key, islandToken };
}

/** Two entries that sum to zero, and the balances that follow from them. */
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

/** Whose Island token it is. */
export function accountOfToken(dataDirectory: string, token: string): string {
  const db = new Database(join(dataDirectory, "atoll.db"), { timeout: 5_000, readonly: true });
  try {
    const find = db.prepare<[string], string>("SELECT account_id FROM island_tokens WHERE token_hash = ?").pluck();
    const found = find.get(hashSecret(token));
    if (found === undefined) throw new Error("The Island token is not in the database");
    return found;
  } finally {
    db.close();
  }
}

import type { AccountStore, NewIslandToken, TokenCap } from "../../account-store.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Session } from "../engine/connection.ts";
import { textFromColumn, textToColumn } from "../engine/text.ts";
import { lockAccount } from "./lock-account.ts";

const TOKEN = `SELECT id, account_id AS "accountId", name, created_at_ms AS "createdAtMs",
  last_used_at_ms AS "lastUsedAtMs" FROM island_tokens`;
export const FIND = `${TOKEN} WHERE token_hash = $1 AND revoked_at_ms IS NULL`;
export const LIST = `${TOKEN} WHERE account_id = $1 AND revoked_at_ms IS NULL ORDER BY id DESC`;
export const HAS = "SELECT 1 FROM island_tokens WHERE id = $1 AND revoked_at_ms IS NULL";
export const REVOKE =
  "UPDATE island_tokens SET revoked_at_ms = $1 WHERE id = $2 AND account_id = $3 AND revoked_at_ms IS NULL";
export const TOUCH =
  "UPDATE island_tokens SET last_used_at_ms = $2 WHERE id = $1 AND coalesce(last_used_at_ms, 0) < $2";

/** @throws {ServiceError} `too_many_tokens` */
export async function createIslandToken(session: Session, token: NewIslandToken, cap: TokenCap): Promise<void> {
  await lockAccount(session, token.accountId);
  await insertToken(session, token, cap);
}

/** @throws {ServiceError} `too_many_codes` */
export async function createPairingCode(
  session: Session,
  ...[{ codeHash, accountId, name, expiresAtMs }, { nowMs, maxCodes }]: Parameters<AccountStore["createPairingCode"]>
): Promise<void> {
  await lockAccount(session, accountId);
  await session.run("DELETE FROM pairing_codes WHERE expires_at_ms <= $1", [nowMs]);
  const inserted = await session.run(
    `INSERT INTO pairing_codes (code_hash, account_id, name, expires_at_ms) SELECT $1, $2, $3, $4
     WHERE (SELECT count(*) FROM pairing_codes WHERE account_id = $2) < $5`,
    [codeHash, accountId, textToColumn(name), expiresAtMs, maxCodes],
  );
  if (inserted === 0) throw REFUSALS.too_many_codes(maxCodes);
}

/** @throws {ServiceError} `too_many_tokens` */
export async function redeemPairingCode(
  session: Session,
  ...[{ codeHash, ...token }, cap]: Parameters<AccountStore["redeemPairingCode"]>
): ReturnType<AccountStore["redeemPairingCode"]> {
  const code = await session.one<{ accountId: string; name: string }>(
    `SELECT account_id AS "accountId", name FROM pairing_codes WHERE code_hash = $1 AND expires_at_ms > $2`,
    [codeHash, token.createdAtMs],
  );
  if (code === undefined) return undefined;
  await lockAccount(session, code.accountId);
  // Of two who use it at once, one deletes it. So does the end of the account.
  if ((await session.run("DELETE FROM pairing_codes WHERE code_hash = $1", [codeHash])) === 0) return undefined;
  const found = { accountId: code.accountId, name: textFromColumn(code.name) };
  await insertToken(session, { ...token, ...found }, cap);
  return found;
}

async function insertToken(
  session: Session,
  { id, accountId, name, tokenHash, createdAtMs }: NewIslandToken,
  { maxTokens, revokedAfterMs }: TokenCap,
): Promise<void> {
  const inserted = await session.run(
    `INSERT INTO island_tokens (id, account_id, name, token_hash, created_at_ms) SELECT $1, $2, $3, $4, $5
     WHERE (SELECT count(*) FROM island_tokens WHERE account_id = $2
       AND (revoked_at_ms IS NULL OR revoked_at_ms > $6)) < $7`,
    [id, accountId, textToColumn(name), tokenHash, createdAtMs, revokedAfterMs, maxTokens],
  );
  if (inserted === 0) throw REFUSALS.too_many_tokens(maxTokens);
}

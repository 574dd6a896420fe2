import type Database from "better-sqlite3";
import type { AccountStore, NewIslandToken, PairingCode, TokenCap } from "../../account-store.ts";
import { REFUSALS } from "../../refusals.ts";

type Redeemed = Awaited<ReturnType<AccountStore["redeemPairingCode"]>>;

export interface IslandTokenOperations {
  createIslandToken(args: NewIslandToken & TokenCap): void;
  touchIslandToken(args: { id: string; atMs: number }): void;
  revokeIslandToken(args: { accountId: string; id: string; atMs: number }): boolean;
  createPairingCode(args: PairingCode & { nowMs: number; maxCodes: number }): void;
  redeemPairingCode(args: Parameters<AccountStore["redeemPairingCode"]>[0] & TokenCap): Redeemed;
}

export function islandTokenOperations(db: Database.Database): IslandTokenOperations {
  const insert = db.prepare<NewIslandToken & TokenCap>(
    `INSERT INTO island_tokens (id, account_id, name, token_hash, created_at_ms)
     SELECT @id, @accountId, @name, @tokenHash, @createdAtMs
     WHERE (SELECT count(*) FROM island_tokens WHERE account_id = @accountId
       AND (revoked_at_ms IS NULL OR revoked_at_ms > @revokedAfterMs)) < @maxTokens`,
  );
  const touch = db.prepare<{ id: string; atMs: number }>(
    "UPDATE island_tokens SET last_used_at_ms = @atMs WHERE id = @id AND coalesce(last_used_at_ms, 0) < @atMs",
  );
  const revoke = db.prepare<[number, string, string]>(
    "UPDATE island_tokens SET revoked_at_ms = ? WHERE id = ? AND account_id = ? AND revoked_at_ms IS NULL",
  );
  const dropExpired = db.prepare<[number]>("DELETE FROM pairing_codes WHERE expires_at_ms <= ?");
  const insertCode = db.prepare<PairingCode & { maxCodes: number }>(
    `INSERT INTO pairing_codes (code_hash, account_id, name, expires_at_ms)
     SELECT @codeHash, @accountId, @name, @expiresAtMs
     WHERE (SELECT count(*) FROM pairing_codes WHERE account_id = @accountId) < @maxCodes`,
  );
  const findCode = db.prepare<[string, number], NonNullable<Redeemed>>(
    "SELECT account_id AS accountId, name FROM pairing_codes WHERE code_hash = ? AND expires_at_ms > ?",
  );
  const dropCode = db.prepare<[string]>("DELETE FROM pairing_codes WHERE code_hash = ?");
  const create = (args: NewIslandToken & TokenCap): void => {
    if (insert.run(args).changes === 0) throw REFUSALS.too_many_tokens(args.maxTokens);
  };
  return {
    createIslandToken: create,
    touchIslandToken: (args) => void touch.run(args),
    revokeIslandToken: ({ accountId, id, atMs }) => revoke.run(atMs, id, accountId).changes === 1,
    createPairingCode({ nowMs, ...code }) {
      dropExpired.run(nowMs);
      if (insertCode.run(code).changes === 0) throw REFUSALS.too_many_codes(code.maxCodes);
    },
    redeemPairingCode({ codeHash, ...token }) {
      const found = findCode.get(codeHash, token.createdAtMs);
      if (found === undefined) return undefined;
      create({ ...token, ...found });
      dropCode.run(codeHash);
      return found;
    },
  };
}

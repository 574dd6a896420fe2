import { REFUSALS } from "./refusals.ts";
import { read, write } from "./steps/steps.ts";
import { integer, key, nullable, Table, written, type RowOf } from "./steps/table.ts";
import { countRows, type Tx } from "./steps/tx.ts";

export const islandTokenTable = new Table(
  "island_tokens",
  {
    id: key("PRIMARY KEY"),
    accountId: key("REFERENCES accounts (id)"),
    name: written(),
    tokenHash: key("UNIQUE"),
    createdAtMs: integer(),
    revokedAtMs: nullable(integer()),
    /** Time when an Island last opened a session with the token; null for never. */
    lastUsedAtMs: nullable(integer()),
  },
  { indexes: [{ postgres: "CREATE INDEX island_tokens_by_account ON island_tokens (account_id, id)" }] },
);

/** One-time codes, stored as SHA-256, that an Island exchanges for an Island token. */
export const pairingCodeTable = new Table(
  "pairing_codes",
  {
    codeHash: key("PRIMARY KEY"),
    accountId: key("REFERENCES accounts (id)"),
    /** Name for the token that the code creates. */
    name: written(),
    expiresAtMs: integer(),
  },
  {
    indexes: [
      "CREATE INDEX pairing_codes_by_account ON pairing_codes (account_id)",
      "CREATE INDEX pairing_codes_by_expiry ON pairing_codes (expires_at_ms)",
    ],
  },
);

export type IslandToken = Omit<RowOf<typeof islandTokenTable>, "tokenHash" | "revokedAtMs">;
export type NewIslandToken = Omit<RowOf<typeof islandTokenTable>, "revokedAtMs" | "lastUsedAtMs">;
export type PairingCode = RowOf<typeof pairingCodeTable>;

/** Limit of the Island tokens of an account. */
export interface TokenCap {
  readonly maxTokens: number;
  /** Tokens revoked after this time count as existing tokens. */
  readonly revokedAfterMs: number;
}

const TOKEN = `SELECT ${islandTokenTable.columnsBut("tokenHash", "revokedAtMs")} FROM island_tokens`;

/** Stores a token. The caller has locked the account. @throws {ServiceError} `too_many_tokens` */
async function add(tx: Tx, token: NewIslandToken, { maxTokens, revokedAfterMs }: TokenCap): Promise<void> {
  const counted = `FROM island_tokens
    WHERE account_id = @accountId AND (revoked_at_ms IS NULL OR revoked_at_ms > @revokedAfterMs)`;
  const count = await countRows(tx, counted, { accountId: token.accountId, revokedAfterMs });
  if (count >= maxTokens) throw REFUSALS.too_many_tokens(maxTokens);
  await islandTokenTable.insert(tx, token);
}

export const islandTokenSteps = {
  /** Stores a token. @throws {ServiceError} `too_many_tokens` */
  createIslandToken: write(async (tx, token: NewIslandToken, cap: TokenCap): Promise<void> => {
    await tx.lockAccount(token.accountId);
    await add(tx, token, cap);
  }),

  touchIslandToken: write(async (tx, tokenId: string, atMs: number): Promise<void> => {
    const sql = `UPDATE island_tokens SET last_used_at_ms = @atMs
      WHERE id = @tokenId AND coalesce(last_used_at_ms, 0) < @atMs`;
    await tx.run(sql, { tokenId, atMs });
  }),

  /** Stores a code and deletes expired ones. @throws {ServiceError} `too_many_codes` if the account has `maxCodes`. */
  createPairingCode: write(
    async (tx, code: PairingCode, { nowMs, maxCodes }: { nowMs: number; maxCodes: number }): Promise<void> => {
      await tx.lockAccount(code.accountId);
      await tx.run("DELETE FROM pairing_codes WHERE expires_at_ms <= @nowMs", { nowMs });
      const count = await countRows(tx, "FROM pairing_codes WHERE account_id = @accountId", code);
      if (count >= maxCodes) throw REFUSALS.too_many_codes(maxCodes);
      await pairingCodeTable.insert(tx, code);
    },
  ),

  /**
   * Deletes a code and stores its token, in one commit. Returns undefined for an unknown or expired code.
   * @throws {ServiceError} `too_many_tokens`; the code remains valid.
   */
  redeemPairingCode: write(
    async (
      tx,
      { codeHash, ...token }: Pick<NewIslandToken, "id" | "tokenHash" | "createdAtMs"> & { codeHash: string },
      cap: TokenCap,
    ) => {
      const columns = pairingCodeTable.columns("accountId", "name");
      const sql = `SELECT ${columns} FROM pairing_codes WHERE code_hash = @codeHash AND expires_at_ms > @nowMs`;
      const values = { codeHash, nowMs: token.createdAtMs };
      const found = await pairingCodeTable.row<Pick<PairingCode, "accountId" | "name">>(tx, sql, values);
      if (found === undefined) return undefined;
      await tx.lockAccount(found.accountId);
      // Only one of several concurrent uses deletes the row. Deleting the account also deletes it.
      const used = await tx.run("DELETE FROM pairing_codes WHERE code_hash = @codeHash", { codeHash });
      if (used === 0) return undefined;
      await add(tx, { ...token, ...found }, cap);
      return found;
    },
  ),

  findIslandToken: read((tx, tokenHash: string) =>
    islandTokenTable.row<IslandToken>(tx, `${TOKEN} WHERE token_hash = @tokenHash AND revoked_at_ms IS NULL`, {
      tokenHash,
    }),
  ),

  /** Returns the active tokens of an account, newest first. */
  listIslandTokens: read((tx, accountId: string) => {
    const sql = `${TOKEN} WHERE account_id = @accountId AND revoked_at_ms IS NULL ORDER BY id DESC`;
    return islandTokenTable.rows<IslandToken>(tx, sql, { accountId });
  }),

  /** Revokes a token. Returns false if the account has no such active token. */
  revokeIslandToken: write(async (tx, accountId: string, tokenId: string, atMs: number) => {
    const sql = `UPDATE island_tokens SET revoked_at_ms = @atMs
      WHERE id = @tokenId AND account_id = @accountId AND revoked_at_ms IS NULL`;
    const isRevoked = (await tx.run(sql, { accountId, tokenId, atMs })) === 1;
    // In PostgreSQL a trigger increments the revision. Tokens are deleted only with their account, which increments it.
    if (isRevoked && tx.dialect === "sqlite") await tx.run("UPDATE credentials_revision SET revision = revision + 1");
    return isRevoked;
  }),
};

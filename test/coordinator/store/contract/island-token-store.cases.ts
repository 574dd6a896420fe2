import { expect } from "vitest";
import { ServiceError } from "../../../../shared/errors.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { type Check, MADE_AT_MS, makeAccount } from "./store-builders.ts";

const CAP = { maxTokens: 3, revokedAfterMs: MADE_AT_MS };
const EXPIRES_AT_MS = MADE_AT_MS + 100;
const made = { name: "attic", createdAtMs: MADE_AT_MS };

const create = (store: Store, accountId: string, id: string) =>
  store.accounts.createIslandToken({ ...made, id, accountId, tokenHash: `hash of ${id}` }, CAP);
const addCode = (store: Store, accountId: string, codeHash: string, nowMs = MADE_AT_MS) =>
  store.accounts.createPairingCode(
    { codeHash, accountId, name: "cellar", expiresAtMs: EXPIRES_AT_MS },
    { nowMs, maxCodes: 2 },
  );
const redeem = (store: Store, codeHash: string, id: string, createdAtMs = MADE_AT_MS) =>
  store.accounts.redeemPairingCode({ id, tokenHash: `hash of ${id}`, createdAtMs, codeHash }, CAP);

/** Null if the write is accepted. */
async function refusalCode(write: Promise<unknown>): Promise<string | null> {
  try {
    await write;
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

export function describeIslandTokens(check: Check): void {
  check("accounts.revokeIslandToken() ends the token and raises the revision of the credentials", async (store) => {
    const accountId = await makeAccount(store);
    await create(store, accountId, "itk_1");
    const before = await store.accounts.credentialsRevision();
    expect(await store.accounts.endedOf(["itk_1"])).toEqual([]);
    await store.accounts.revokeIslandToken(accountId, "itk_1", 5);
    expect(await store.accounts.endedOf(["itk_1"])).toEqual(["itk_1"]);
    expect(await store.accounts.credentialsRevision()).toBe(before + 1);
    await store.accounts.revokeIslandToken(accountId, "itk_1", 6);
    expect(await store.accounts.credentialsRevision()).toBe(before + 1);
  });

  check("accounts.findIslandToken() returns a token until its own account revokes it", async (store) => {
    const accountId = await makeAccount(store);
    const other = await makeAccount(store);
    await create(store, accountId, "itk_1");
    const token = { ...made, id: "itk_1", accountId, lastUsedAtMs: null };
    expect(await store.accounts.findIslandToken("hash of itk_1")).toEqual(token);
    expect(await store.accounts.revokeIslandToken(other, "itk_1", 5)).toBe(false);
    expect(await store.accounts.revokeIslandToken(accountId, "itk_1", 5)).toBe(true);
    expect(await store.accounts.findIslandToken("hash of itk_1")).toBeUndefined();
    expect(await store.accounts.revokeIslandToken(accountId, "itk_1", 6)).toBe(false);
  });

  check("accounts.touchIslandToken() keeps the latest use", async (store) => {
    const accountId = await makeAccount(store);
    await create(store, accountId, "itk_1");
    await store.accounts.touchIslandToken("itk_1", 20);
    await store.accounts.touchIslandToken("itk_1", 10);
    expect((await store.accounts.findIslandToken("hash of itk_1"))?.lastUsedAtMs).toBe(20);
  });

  check("accounts.listIslandTokens() returns the account's own active tokens, newest first", async (store) => {
    const accountId = await makeAccount(store);
    const other = await makeAccount(store);
    for (const id of ["itk_1", "itk_2", "itk_3"]) await create(store, accountId, id);
    await create(store, other, "itk_4");
    await store.accounts.revokeIslandToken(accountId, "itk_2", 5);
    const token = { ...made, accountId, lastUsedAtMs: null };
    expect(await store.accounts.listIslandTokens(accountId)).toEqual([
      { ...token, id: "itk_3" },
      { ...token, id: "itk_1" },
    ]);
    expect(await store.accounts.listIslandTokens("user_none")).toEqual([]);
  });

  check("accounts.createIslandToken() refuses tokens above the cap, counting recently revoked ones", async (store) => {
    const accountId = await makeAccount(store);
    const ids = ["itk_1", "itk_2", "itk_3", "itk_4"];
    const refusals = await Promise.all(ids.map((id) => refusalCode(create(store, accountId, id))));
    expect(refusals.filter((code) => code !== null)).toEqual(["too_many_tokens"]);
    const [first, second] = await store.accounts.listIslandTokens(accountId);
    await store.accounts.revokeIslandToken(accountId, first?.id ?? "", MADE_AT_MS + 1);
    expect(await refusalCode(create(store, accountId, "itk_5"))).toBe("too_many_tokens");
    await store.accounts.revokeIslandToken(accountId, second?.id ?? "", MADE_AT_MS);
    expect(await refusalCode(create(store, accountId, "itk_5"))).toBeNull();
  });

  check("accounts.redeemPairingCode() creates the token of a code, once", async (store) => {
    const accountId = await makeAccount(store);
    await addCode(store, accountId, "c1");
    const found = await Promise.all([redeem(store, "c1", "itk_1"), redeem(store, "c1", "itk_2")]);
    expect(found.filter((one) => one !== undefined)).toEqual([{ accountId, name: "cellar" }]);
    const tokens = await store.accounts.listIslandTokens(accountId);
    expect(tokens.map(({ name, createdAtMs }) => [name, createdAtMs])).toEqual([["cellar", MADE_AT_MS]]);
    expect(await redeem(store, "c1", "itk_3")).toBeUndefined();
    expect(await redeem(store, "unknown", "itk_3")).toBeUndefined();
  });

  check("accounts.redeemPairingCode() refuses a code that has expired or whose account is deleted", async (store) => {
    const accountId = await makeAccount(store);
    await addCode(store, accountId, "c1");
    expect(await redeem(store, "c1", "itk_1", EXPIRES_AT_MS)).toBeUndefined();
    await store.accounts.delete(accountId, MADE_AT_MS);
    expect(await redeem(store, "c1", "itk_1")).toBeUndefined();
  });

  check("accounts.redeemPairingCode() keeps the code if the account has too many tokens", async (store) => {
    const accountId = await makeAccount(store);
    for (const id of ["itk_1", "itk_2", "itk_3"]) await create(store, accountId, id);
    await addCode(store, accountId, "c1");
    expect(await refusalCode(redeem(store, "c1", "itk_4"))).toBe("too_many_tokens");
    await store.accounts.revokeIslandToken(accountId, "itk_1", MADE_AT_MS);
    expect(await redeem(store, "c1", "itk_4")).toEqual({ accountId, name: "cellar" });
  });

  check("accounts.createPairingCode() refuses codes above the limit until one expires or is used", async (store) => {
    const accountId = await makeAccount(store);
    const codes = ["c1", "c2", "c3"];
    const refusals = await Promise.all(codes.map((code) => refusalCode(addCode(store, accountId, code))));
    expect(refusals.filter((code) => code !== null)).toEqual(["too_many_codes"]);
    await addCode(store, await makeAccount(store), "of another");
    expect(await refusalCode(addCode(store, accountId, "c4", EXPIRES_AT_MS))).toBeNull();
  });
}

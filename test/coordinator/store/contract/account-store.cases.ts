import { expect } from "vitest";
import { NO_KEY_LIMITS } from "../../../../coordinator/store/accounts/key-spending.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import type { ServiceError } from "../../../../shared/errors.ts";
import { type Check, firstGrant, grant, MADE_AT_MS, makeAccount } from "./store-builders.ts";

const CAP = { maxKeys: 3, revokedAfterMs: MADE_AT_MS };

export function describeAccounts(check: Check): void {
  check("accounts.create() grants the first credits in the same commit", async (store) => {
    const postings = firstGrant("user_1", 7);
    const account = { id: "user_1", email: "Ann@Example.com", passwordHash: "hash", postings, createdAtMs: 1 };
    const shown = { id: "user_1", email: "Ann@Example.com", createdAtMs: 1, balanceMicro: 7, role: "user" };
    expect(await store.accounts.create(account)).toEqual(shown);
    expect(await store.accounts.get("user_1")).toEqual(shown);
    expect(await store.accounts.passwordHash("user_1")).toBe("hash");
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, entries: 2 });
  });

  check("accounts.create() can create an account without a grant", async (store) => {
    const id = await makeAccount(store, { grantMicro: 0 });
    expect((await store.accounts.get(id))?.balanceMicro).toBe(0);
    expect((await store.ledger.verify()).entries).toBe(0);
  });

  check("accounts.create() refuses an e-mail address in another case as email_taken", async (store) => {
    await makeAccount(store, { email: "ann@example.com" });
    await expect(makeAccount(store, { email: "ANN@example.com" })).rejects.toMatchObject({ code: "email_taken" });
  });

  check("accounts.create() creates one account if called twice concurrently for an address", async (store) => {
    const made = await Promise.allSettled([
      makeAccount(store, { email: "ann@example.com" }),
      makeAccount(store, { email: "ann@example.com" }),
    ]);
    expect(made.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  check("accounts.getByEmail() ignores case", async (store) => {
    const id = await makeAccount(store, { email: "Ann@example.com" });
    expect((await store.accounts.getByEmail("aNN@example.com"))?.id).toBe(id);
  });

  check("accounts.get(), getByEmail() and passwordHash() return undefined for an unknown account", async (store) => {
    expect(await store.accounts.get("user_none")).toBeUndefined();
    expect(await store.accounts.getByEmail("none@example.com")).toBeUndefined();
    expect(await store.accounts.passwordHash("user_none")).toBeUndefined();
  });

  check("accounts.setLimits() changes the given limits, and null restores a default", async (store) => {
    const accountId = await makeAccount(store);
    const unset = { requestsPerMinute: null, concurrentJobs: null, concurrentStreams: null, share: null };
    expect(await store.accounts.limits(accountId)).toEqual(unset);
    await store.accounts.setLimits(accountId, { requestsPerMinute: 7, concurrentJobs: 0, share: 200 });
    const set = { requestsPerMinute: 7, concurrentJobs: 0, concurrentStreams: 9, share: 200 };
    expect(await store.accounts.setLimits(accountId, { concurrentStreams: 9 })).toEqual(set);
    expect(await store.accounts.limits(accountId)).toEqual(set);
    expect(await store.accounts.setLimits(accountId, { requestsPerMinute: null })).toEqual({
      ...set,
      requestsPerMinute: null,
    });
  });

  check("accounts.limits() returns undefined and setLimits() rejects for an unknown account", async (store) => {
    expect(await store.accounts.limits("user_none")).toBeUndefined();
    const set = store.accounts.setLimits("user_none", { concurrentJobs: 1 });
    await expect(set).rejects.toMatchObject({ code: "not_found" });
  });

  const key = { name: "ci", prefix: "ak_12345678", scopes: ["read"] as const, createdAtMs: MADE_AT_MS };

  check("accounts.findKey() finds a key by its secret's hash until it is revoked", async (store) => {
    const accountId = await makeAccount(store);
    await store.accounts.createKey({ ...key, id: "key_1", accountId, secretHash: "h1" }, CAP);
    expect(await store.accounts.findKey("h1")).toEqual({
      ...key,
      ...NO_KEY_LIMITS,
      trust: null,
      number: expect.any(Number) as number,
      id: "key_1",
      accountId,
      lastUsedAtMs: null,
    });
    expect(await store.accounts.findKey("h2")).toBeUndefined();
    expect(await store.accounts.revokeKey(accountId, "key_1", 5)).toBe(true);
    expect(await store.accounts.findKey("h1")).toBeUndefined();
  });

  check("accounts.listKeys() returns the account's own active keys, newest first", async (store) => {
    const accountId = await makeAccount(store);
    const other = await makeAccount(store);
    await store.accounts.createKey({ ...key, id: "key_1", accountId, secretHash: "h1" }, CAP);
    await store.accounts.createKey({ ...key, id: "key_2", accountId, secretHash: "h2" }, CAP);
    await store.accounts.createKey({ ...key, id: "key_3", accountId, secretHash: "h3" }, CAP);
    await store.accounts.createKey({ ...key, id: "key_4", accountId: other, secretHash: "h4" }, CAP);
    await store.accounts.revokeKey(accountId, "key_2", 5);
    expect((await store.accounts.listKeys(accountId)).map(({ id }) => id)).toEqual(["key_3", "key_1"]);
  });

  check("accounts.revokeKey() returns false for another account's key and for a revoked key", async (store) => {
    const accountId = await makeAccount(store);
    const other = await makeAccount(store);
    await store.accounts.createKey({ ...key, id: "key_1", accountId, secretHash: "h1" }, CAP);
    expect(await store.accounts.revokeKey(other, "key_1", 5)).toBe(false);
    expect(await store.accounts.findKey("h1")).toBeDefined();
    await store.accounts.revokeKey(accountId, "key_1", 5);
    expect(await store.accounts.revokeKey(accountId, "key_1", 6)).toBe(false);
  });

  check("accounts.credentialsRevision() increases with each relevant change, and only then", async (store) => {
    const { accounts } = store;
    const accountId = await makeAccount(store);
    const session = (tokenHash: string) => ({ tokenHash, accountId, createdAtMs: 1, expiresAtMs: 9 });
    const setPassword = (keptTokenHash: string) =>
      accounts.setPassword({ accountId, passwordHash: "other", keptTokenHash });
    const steps: [isChange: boolean, step: () => Promise<unknown>][] = [
      [false, () => accounts.createKey({ ...key, id: "key_1", accountId, secretHash: "h1" }, CAP)],
      [false, () => accounts.createKey({ ...key, id: "key_2", accountId, secretHash: "h2" }, CAP)],
      [false, () => accounts.touchKey("key_1", 20)],
      [true, () => accounts.setLimits(accountId, { concurrentJobs: 3 })],
      [true, () => accounts.revokeKey(accountId, "key_1", 5)],
      [false, () => accounts.revokeKey(accountId, "key_1", 6)],
      [false, () => accounts.createSession(session("t1"), 2)],
      [false, () => accounts.createSession(session("t2"), 2)],
      [true, () => accounts.createSession(session("t3"), 2)],
      [true, () => setPassword("t3")],
      [false, () => setPassword("t3")],
      [true, () => accounts.deleteSession("t3")],
      [false, () => accounts.deleteSession("t3")],
      [false, () => grant(store, accountId, 1)],
      [true, () => accounts.delete(accountId, 7)],
    ];
    const grown: boolean[] = [];
    for (const [, step] of steps) {
      const before = await accounts.credentialsRevision();
      await step();
      grown.push((await accounts.credentialsRevision()) > before);
    }
    expect(grown).toEqual(steps.map(([isChange]) => isChange));
  });

  const createKeys = async (store: Store, accountId: string, ids: readonly string[]) => {
    const made = await Promise.allSettled(
      ids.map((id) => store.accounts.createKey({ ...key, id, accountId, secretHash: id }, CAP)),
    );
    return made.map((outcome) => (outcome.status === "fulfilled" ? "made" : (outcome.reason as ServiceError).code));
  };

  check("accounts.createKey() never exceeds the cap, even with concurrent calls", async (store) => {
    const accountId = await makeAccount(store);
    const other = await makeAccount(store);
    const outcomes = await createKeys(store, accountId, ["key_1", "key_2", "key_3", "key_4", "key_5"]);
    expect(outcomes.toSorted()).toEqual(["made", "made", "made", "too_many_keys", "too_many_keys"]);
    expect(await store.accounts.listKeys(accountId)).toHaveLength(3);
    expect(await createKeys(store, other, ["key_6"])).toEqual(["made"]);
  });

  check("accounts.createKey() counts keys revoked after the given time", async (store) => {
    const accountId = await makeAccount(store);
    await createKeys(store, accountId, ["key_1", "key_2", "key_3"]);
    await store.accounts.revokeKey(accountId, "key_1", CAP.revokedAfterMs + 1);
    expect(await createKeys(store, accountId, ["key_4"])).toEqual(["too_many_keys"]);
    await store.accounts.revokeKey(accountId, "key_2", CAP.revokedAfterMs);
    expect(await createKeys(store, accountId, ["key_4"])).toEqual(["made"]);
  });

  check("accounts.touchKey() keeps the latest use", async (store) => {
    const accountId = await makeAccount(store);
    await store.accounts.createKey({ ...key, id: "key_1", accountId, secretHash: "h1" }, CAP);
    await store.accounts.touchKey("key_1", 20);
    await store.accounts.touchKey("key_1", 10);
    expect((await store.accounts.findKey("h1"))?.lastUsedAtMs).toBe(20);
  });

  check("accounts.findSession() returns a session until it expires or is deleted", async (store) => {
    const accountId = await makeAccount(store);
    const expiresAtMs = MADE_AT_MS + 100;
    await store.accounts.createSession({ tokenHash: "t1", accountId, createdAtMs: MADE_AT_MS, expiresAtMs }, 1);
    expect(await store.accounts.findSession("t1", expiresAtMs - 1)).toEqual({ accountId, expiresAtMs });
    expect(await store.accounts.findSession("t1", expiresAtMs)).toBeUndefined();
    await store.accounts.deleteSession("t1");
    expect(await store.accounts.findSession("t1", MADE_AT_MS)).toBeUndefined();
  });

  check("accounts.createSession() ends the account's oldest sessions above the limit", async (store) => {
    const accountId = await makeAccount(store);
    const other = await makeAccount(store);
    const expiresAtMs = MADE_AT_MS + 100;
    const begin = (tokenHash: string, createdAtMs: number, owner = accountId) =>
      store.accounts.createSession({ tokenHash, accountId: owner, createdAtMs, expiresAtMs }, 2);
    await begin("other", MADE_AT_MS - 9, other);
    await begin("b", MADE_AT_MS + 2);
    await Promise.all([begin("a", MADE_AT_MS + 1), begin("c", MADE_AT_MS + 3)]);
    // The clock was set back, but a session that has just started is never the one that ends.
    await begin("d", MADE_AT_MS);
    const live = [];
    for (const tokenHash of ["other", "a", "b", "c", "d"]) {
      if ((await store.accounts.findSession(tokenHash, MADE_AT_MS)) !== undefined) live.push(tokenHash);
    }
    expect(live).toEqual(["other", "c", "d"]);
  });
}

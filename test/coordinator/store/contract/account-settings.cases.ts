import { expect } from "vitest";
import { KeyCreditsError } from "../../../../coordinator/credits/credit-errors.ts";
import { utcMonthOf, type SubmittingKey } from "../../../../coordinator/store/accounts/key-spending.ts";
import { type Check, MADE_AT_MS, makeAccount, makeEnding, makeJob, makeKey, runJob } from "./store-builders.ts";

const MONTH = utcMonthOf(MADE_AT_MS);
const LATER_MS = MADE_AT_MS + 60_000;
const CAP = { maxKeys: 9, revokedAfterMs: 0 } as const;

const limited = (number: number, limitMicro: number): SubmittingKey => ({
  number,
  monthly: { limitMicro, month: MONTH, neededMicro: 1_000_000 },
});

function describeAddresses(check: Check): void {
  check("accounts.setEmail() sets the address, and voids tokens mailed to the old one", async (store) => {
    const { accounts } = store;
    const id = await makeAccount(store, { email: "ann@example.com" });
    const expiresAtMs = LATER_MS;
    await accounts.createReset({ tokenHash: "r", accountId: id, expiresAtMs, nowMs: MADE_AT_MS, maxResets: 3 });
    await accounts.createEmailChange({ accountId: id, tokenHash: "c", email: "x@example.com", expiresAtMs });
    expect(await accounts.setEmail(id, "Ann@Example.org")).toBe(true);
    expect(await accounts.getByEmail("ann@example.ORG")).toMatchObject({ id, email: "Ann@Example.org" });
    expect(await accounts.getByEmail("ann@example.com")).toBeUndefined();
    expect(await accounts.findReset("r", MADE_AT_MS)).toBeUndefined();
    expect(await accounts.findEmailChange("c", MADE_AT_MS)).toBeUndefined();
    // The address differs only in case.
    expect(await accounts.setEmail(id, "ann@example.org")).toBe(true);
    expect(await accounts.setEmail("user_none", "bob@example.org")).toBe(false);
  });

  check("accounts.setEmail() refuses the address of another account", async (store) => {
    const id = await makeAccount(store, { email: "ann@example.com" });
    await makeAccount(store, { email: "bob@example.com" });
    await expect(store.accounts.setEmail(id, "BOB@example.com")).rejects.toMatchObject({ code: "email_taken" });
    expect((await store.accounts.get(id))?.email).toBe("ann@example.com");
  });

  check("accounts.createEmailChange() replaces an earlier change and is kept until it expires", async (store) => {
    const { accounts } = store;
    const accountId = await makeAccount(store);
    const change = { accountId, tokenHash: "one", email: "a@example.com", expiresAtMs: LATER_MS };
    await accounts.createEmailChange(change);
    await accounts.createEmailChange({ ...change, tokenHash: "two", email: "b@example.com" });
    expect(await accounts.findEmailChange("one", MADE_AT_MS)).toBeUndefined();
    expect(await accounts.findEmailChange("two", MADE_AT_MS)).toEqual({ accountId, email: "b@example.com" });
    expect(await accounts.findEmailChange("two", LATER_MS)).toBeUndefined();
    await store.accounts.delete(accountId, MADE_AT_MS);
    expect(await accounts.findEmailChange("two", MADE_AT_MS)).toBeUndefined();
  });
}

function describePasswords(check: Check): void {
  check(
    "accounts.setPassword() and useReset() void a pending address change, which a stranger may have requested",
    async (store) => {
      const { accounts } = store;
      const accountId = await makeAccount(store);
      const askFor = (tokenHash: string): Promise<void> =>
        accounts.createEmailChange({ accountId, tokenHash, email: "thief@example.com", expiresAtMs: LATER_MS });
      await askFor("one");
      await accounts.setPassword({ accountId, passwordHash: "new", keptTokenHash: "current" });
      expect(await accounts.findEmailChange("one", MADE_AT_MS)).toBeUndefined();
      await askFor("two");
      const reset = { tokenHash: "r", accountId, expiresAtMs: LATER_MS, nowMs: MADE_AT_MS, maxResets: 3 };
      await accounts.createReset(reset);
      await accounts.useReset({ tokenHash: "r", passwordHash: "newer", nowMs: MADE_AT_MS });
      expect(await accounts.findEmailChange("two", MADE_AT_MS)).toBeUndefined();
    },
  );
}

function describeSessions(check: Check): void {
  check("accounts.listSessions() returns the account's unexpired sessions, newest first", async (store) => {
    const { accounts } = store;
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const begin = (accountId: string, tokenHash: string, createdAtMs: number, expiresAtMs: number): Promise<void> =>
      accounts.createSession({ accountId, tokenHash, createdAtMs, expiresAtMs }, 9);
    await begin(ann, "old", 1, MADE_AT_MS);
    await begin(ann, "first", 2, LATER_MS);
    await begin(ann, "second", 3, LATER_MS);
    await begin(bob, "other", 4, LATER_MS);
    const revision = await accounts.credentialsRevision();
    await accounts.touchSession("first", 50);
    await accounts.touchSession("first", 40);
    // Recording a use does not change what the token grants.
    expect(await accounts.credentialsRevision()).toBe(revision);
    expect(await accounts.listSessions(ann, MADE_AT_MS)).toEqual([
      { tokenHash: "second", accountId: ann, createdAtMs: 3, expiresAtMs: LATER_MS, lastUsedAtMs: null },
      { tokenHash: "first", accountId: ann, createdAtMs: 2, expiresAtMs: LATER_MS, lastUsedAtMs: 50 },
    ]);
  });
}

function describeKeys(check: Check): void {
  check("accounts.changeKey() changes the limits and the trust that createKey() gave", async (store) => {
    const { accounts } = store;
    const accountId = await makeAccount(store);
    await makeKey(store, accountId, "key_1");
    const limits = { expiresAtMs: LATER_MS, cargos: ["tiny-chat", "hash"], monthlyMicro: 5, trust: "own" } as const;
    const key = { id: "key_2", accountId, name: "ci", prefix: "ak_2", scopes: ["read"] as const, secretHash: "h2" };
    await accounts.createKey({ ...key, createdAtMs: MADE_AT_MS, ...limits }, CAP);
    expect(await accounts.findKey("h2")).toMatchObject({ id: "key_2", ...limits });
    const none = { expiresAtMs: null, cargos: null, monthlyMicro: null, trust: null };
    expect(await accounts.findKey("hash of key_1")).toMatchObject(none);

    const revision = await accounts.credentialsRevision();
    const change = { name: "night", cargos: ["hash"], trust: "proven" } as const;
    expect(await accounts.changeKey(accountId, "key_1", change, MADE_AT_MS)).toMatchObject({
      ...none,
      ...change,
    });
    expect(await accounts.credentialsRevision()).toBeGreaterThan(revision);
    expect(await accounts.changeKey(accountId, "key_2", none, MADE_AT_MS)).toMatchObject(none);
    expect((await accounts.listKeys(accountId)).map(({ id, cargos }) => [id, cargos])).toEqual([
      ["key_2", null],
      ["key_1", ["hash"]],
    ]);
  });

  check("accounts.changeKey() does not change a revoked key or one of another account", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    await makeKey(store, ann, "key_1");
    const change = { name: "mine" };
    expect(await store.accounts.changeKey(bob, "key_1", change, MADE_AT_MS)).toBeUndefined();
    await store.accounts.revokeKey(ann, "key_1", MADE_AT_MS);
    expect(await store.accounts.changeKey(ann, "key_1", change, MADE_AT_MS)).toBeUndefined();
  });

  check(
    "accounts.changeKey() counts this month's charges and holds of the key towards a new monthly limit",
    async (store) => {
      const { accounts, jobs } = store;
      const accountId = await makeAccount(store);
      const number = await makeKey(store, accountId, "key_1");
      await makeKey(store, accountId, "key_2");
      const unlimited = { apiKey: { number, monthly: null } };
      const make = () => makeJob(accountId, unlimited);
      const [summed, ended, running] = [make(), make(), make()];
      for (const job of [summed, ended, running]) await runJob(store, job);
      await jobs.end(makeEnding(summed, { chargeMicro: 200_000 }));
      for (let round = 0; round < 3; round += 1) while (await store.usage.sumUp(100));
      await jobs.end(makeEnding(ended, { chargeMicro: 50_000 }));
      await jobs.submit(makeJob(accountId));
      expect(await accounts.keySpending(accountId, MONTH)).toEqual(new Map());
      for (const id of ["key_1", "key_2"]) {
        await accounts.changeKey(accountId, id, { monthlyMicro: 2_000_000 }, MADE_AT_MS);
      }
      const spent = async (): Promise<unknown> => Object.fromEntries(await accounts.keySpending(accountId, MONTH));
      expect(await spent()).toEqual({ key_1: 1_250_000, key_2: 0 });
      const next = (): Promise<unknown> => jobs.submit(makeJob(accountId, { apiKey: limited(number, 2_000_000) }));
      await expect(next()).rejects.toThrow(KeyCreditsError);
      // The key gets back what the job does not cost.
      await jobs.end(makeEnding(running, { event: "cancel", chargeMicro: 100_000 }));
      expect(await spent()).toEqual({ key_1: 350_000, key_2: 0 });
      await next();
      expect(await spent()).toEqual({ key_1: 1_350_000, key_2: 0 });
      // A change of the limit does not restart the count.
      await accounts.changeKey(accountId, "key_1", { monthlyMicro: 3_000_000 }, MADE_AT_MS);
      expect(await spent()).toEqual({ key_1: 1_350_000, key_2: 0 });
      expect(await accounts.keySpending(accountId, MONTH + 1)).toEqual(new Map());
    },
  );
}

export function describeAccountSettings(check: Check): void {
  describeAddresses(check);
  describePasswords(check);
  describeSessions(check);
  describeKeys(check);
}

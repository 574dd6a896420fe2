import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { knownCallers } from "../../../coordinator/accounts/known-callers.ts";
import { hashSecret, newSecret } from "../../../coordinator/accounts/secrets.ts";
import type { AccountStore } from "../../../coordinator/store/accounts/accounts.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { openTestStore, type TestStore } from "../../support/store/test-store.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";

const HOUR_MS = 3_600_000;
const READS = ["credentialsRevision", "findKey", "findSession", "accountStatus"] as const;

describe("knownCallers()", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let clock: ManualClock;
  let store: TestStore;
  /** Connections of another program to the same database, such as `coordinator key revoke`. */
  let other: TestStore;
  let identify: ReturnType<typeof knownCallers>;
  let reads: Record<(typeof READS)[number], number>;
  let accountId: string;
  beforeEach(async () => {
    folder = temporaryFolder();
    clock = new ManualClock();
    store = await openTestStore({ path: folder.file("atoll.db"), clock });
    other = await openTestStore({ path: folder.file("atoll.db"), clock });
    reads = { credentialsRevision: 0, findKey: 0, findSession: 0, accountStatus: 0 };
    open(counted(store.accounts));
    accountId = await makeAccount(store);
  });
  afterEach(async () => {
    await Promise.all([store.close(), other.close()]);
    folder[Symbol.dispose]();
  });

  const open = (accounts: ReturnType<typeof counted>): void => {
    identify = knownCallers(accounts, clock, { revision: () => accounts.credentialsRevision() });
  };
  const counted = (accounts: AccountStore): Pick<AccountStore, (typeof READS)[number]> => {
    const count = <F extends (...args: never[]) => unknown>(name: (typeof READS)[number], read: F) =>
      ((...args) => {
        reads[name] += 1;
        return read(...args);
      }) as F;
    return {
      credentialsRevision: count("credentialsRevision", () => accounts.credentialsRevision()),
      findKey: count("findKey", (hash: string) => accounts.findKey(hash)),
      findSession: count("findSession", (hash: string, nowMs: number) => accounts.findSession(hash, nowMs)),
      accountStatus: count("accountStatus", (id: string) => accounts.accountStatus(id)),
    };
  };
  const makeKey = async (id: string): Promise<string> => {
    const secret = newSecret("ak");
    const key = { id, accountId, name: "ci", prefix: "ak_", scopes: ["read"] as const, createdAtMs: clock.now() };
    await store.accounts.createKey({ ...key, secretHash: hashSecret(secret) }, { maxKeys: 9, revokedAfterMs: 0 });
    return secret;
  };
  const makeSession = async (maxSessions = 9): Promise<string> => {
    const token = newSecret("st");
    const [createdAtMs, tokenHash] = [clock.now(), hashSecret(token)];
    const expiresAtMs = createdAtMs + HOUR_MS;
    await store.accounts.createSession({ accountId, createdAtMs, expiresAtMs, tokenHash }, maxSessions);
    return token;
  };

  it("reads one number for a known caller, despite other writes", async () => {
    const [key, session] = [await makeKey("key_1"), await makeSession()];
    for (const token of [key, session]) await identify(token);
    expect(reads).toEqual({ credentialsRevision: 2, findKey: 1, findSession: 1, accountStatus: 2 });
    await makeKey("key_2");
    await store.accounts.touchKey("key_1", clock.now());
    expect(await identify(key)).toMatchObject({ kind: "key", accountId, keyId: "key_1", scopes: ["read"] });
    expect(await identify(session)).toMatchObject({ kind: "session", accountId, scopes: ["read", "write"] });
    expect(reads).toEqual({ credentialsRevision: 4, findKey: 1, findSession: 1, accountStatus: 2 });
  });

  it.each(["this", "another"])("applies the next change that %s program makes", async (program) => {
    const { accounts } = program === "this" ? store : other;
    const [first, second] = [await makeKey("key_1"), await makeKey("key_2")];
    const sessions = [await makeSession(), await makeSession(), await makeSession()] as const;
    const known = async () =>
      Promise.all([first, second, ...sessions].map(async (token) => (await identify(token)) !== undefined));
    expect(await known()).toEqual([true, true, true, true, true]);
    await accounts.setLimits(accountId, { requestsPerMinute: 7 });
    expect((await identify(first))?.limits.requestsPerMinute).toBe(7);
    expect((await identify(sessions[0]))?.limits.requestsPerMinute).toBe(7);
    await accounts.revokeKey(accountId, "key_1", clock.now());
    expect(await known()).toEqual([false, true, true, true, true]);
    await accounts.deleteSession(hashSecret(sessions[0]));
    expect(await known()).toEqual([false, true, false, true, true]);
    await accounts.setPassword({ accountId, passwordHash: "new", keptTokenHash: hashSecret(sessions[1]) });
    expect(await known()).toEqual([false, true, false, true, false]);
    await accounts.delete(accountId, clock.now());
    expect(await known()).toEqual([false, false, false, false, false]);
  });

  it("forgets a session that was replaced or has expired", async () => {
    const [replaced, expires] = [await makeSession(), await makeSession()];
    for (const token of [replaced, expires]) expect(await identify(token)).toBeDefined();
    await store.accounts.deleteSession(hashSecret(replaced));
    clock.advance(HOUR_MS - 1);
    expect(await identify(replaced)).toBeUndefined();
    expect(await identify(expires)).toBeDefined();
    clock.advance(1);
    expect(await identify(expires)).toBeUndefined();
  });

  it("does not cache a look-up that started before a change and ended after it", async () => {
    const key = await makeKey("key_1");
    let revoke = async (): Promise<unknown> => store.accounts.revokeKey(accountId, "key_1", clock.now());
    const slow = {
      ...counted(store.accounts),
      findKey: async (hash: string) => {
        const found = await store.accounts.findKey(hash);
        await revoke();
        revoke = async () => undefined;
        return found;
      },
    };
    open(slow);
    const during = identify(key);
    await during;
    expect(await identify(key)).toBeUndefined();
  });

  it("does not cache an unknown token", async () => {
    const unknown = newSecret("ak");
    for (const token of [unknown, unknown, "ak_short", newSecret("it")]) {
      expect(await identify(token)).toBeUndefined();
    }
    expect(reads).toMatchObject({ credentialsRevision: 2, findKey: 2 });
  });
});

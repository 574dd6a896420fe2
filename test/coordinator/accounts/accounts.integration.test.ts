import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openAccounts, type Accounts } from "../../../coordinator/accounts/accounts.ts";
import { unsharedCredentials } from "../../../coordinator/cluster/credential-watch.ts";
import type { SignedIn } from "../../../coordinator/accounts/identity.ts";
import { ValidationError } from "../../../shared/errors.ts";
import { temporaryFolder } from "../store/contract/store-builders.ts";
import { testEnv } from "../../support/test-env.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import type { Registration } from "../../../coordinator/config/exposure.ts";
import { openPasswords, type Passwords } from "../../../coordinator/accounts/passwords.ts";
import { quickPasswords } from "../../support/quick-passwords.ts";
import { IS_POSTGRES, openTestStore, type TestStore } from "../../support/store/test-store.ts";

const PASSWORD = "correct horse";
const ADDRESS = "203.0.113.7";

describe("openAccounts()", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let clock: ManualClock;
  let store: TestStore;
  let logged: object[];
  let accounts: Accounts;
  const openWith = ({
    accountStore = store.accounts,
    registration = "open",
    passwords = quickPasswords(),
  }: { accountStore?: TestStore["accounts"]; registration?: Registration; passwords?: Passwords } = {}): Accounts => {
    const log = { ...testEnv().log, error: (facts: object) => void logged.push(facts) };
    const env = testEnv({ newAccountMicro: 5_000_000 }, { clock, log });
    return openAccounts(env, accountStore, registration, unsharedCredentials(accountStore, env), passwords);
  };
  beforeEach(async () => {
    folder = temporaryFolder();
    clock = new ManualClock();
    logged = [];
    store = await openTestStore({ path: folder.file("atoll.db"), clock });
    accounts = openWith();
  });
  afterEach(async () => {
    await accounts.settled();
    await store.close();
    folder[Symbol.dispose]();
  });
  const register = async (email: string, password: string): Promise<SignedIn> => {
    const session = await accounts.register(email, password, ADDRESS);
    if (session === null) throw new Error("The address must be proved first");
    return session;
  };
  const makeAccount = async (): Promise<string> =>
    (await accounts.createAccount({ email: "ann@example.com", password: PASSWORD })).id;

  it("register() grants the first credits and signs in for 30 days", async () => {
    const { token, expiresAtMs, account } = await register("ann@example.com", PASSWORD);
    expect(token).toMatch(/^st_[0-9A-Za-z]{40}$/);
    expect(account).toMatchObject({ email: "ann@example.com", balanceMicro: 5_000_000 });
    expect(expiresAtMs - clock.now()).toBe(30 * 24 * 3_600_000);
    expect(await accounts.authenticate(token)).toMatchObject({
      kind: "session",
      accountId: account.id,
      scopes: ["read", "write"],
    });
    clock.advance(30 * 24 * 3_600_000);
    expect(await accounts.authenticate(token)).toBeUndefined();
  });

  it("login() delays the sixth attempt on an account from any address, even if the account is unknown", async () => {
    await makeAccount();
    for (const email of ["ann@example.com", "nobody@example.com"]) {
      const login = (from: string) => accounts.login(email, "wrong password", from);
      const wrong = await Promise.allSettled(["a", "b", "c", "d", "e"].map((from) => login(from + email)));
      expect(wrong.map((result) => result.status === "rejected" && (result.reason as Error).message)).toEqual(
        Array.from({ length: 5 }, () => "Wrong e-mail address or password"),
      );
      await expect(login("f")).rejects.toMatchObject({ code: "rate_limited", limit: "login_attempts" });
    }
  });

  it("register() is refused while registration is closed, but createAccount() is not", async () => {
    accounts = openWith({ registration: "closed" });
    await expect(accounts.register("ann@example.com", PASSWORD, ADDRESS)).rejects.toMatchObject({
      code: "insufficient_scope",
    });
    expect(await makeAccount()).toMatch(/^user_/);
  });

  it("createAccount() refuses a taken address, and reports all invalid fields at once", async () => {
    await makeAccount();
    const taken = accounts.createAccount({ email: "ANN@example.com", password: PASSWORD });
    await expect(taken).rejects.toMatchObject({ code: "email_taken" });
    const wrong = accounts.createAccount({ email: "", password: "short" });
    await expect(wrong).rejects.toBeInstanceOf(ValidationError);
    await expect(wrong).rejects.toMatchObject({ details: [{ path: "email" }, { path: "password" }] });
    const tooPrecise = accounts.createAccount({ email: "b@example.com", password: PASSWORD, credits: 1e-7 });
    await expect(tooPrecise).rejects.toMatchObject({ details: [{ path: "credits" }] });
  });

  it("createAccount() grants the given credits", async () => {
    const { balanceMicro } = await accounts.createAccount({ email: "b@example.com", password: PASSWORD, credits: 1.5 });
    expect(balanceMicro).toBe(1_500_000);
  });

  it("login() signs in with the right password, and logout() ends only that session", async () => {
    const accountId = await makeAccount();
    const first = await accounts.login("Ann@example.com", PASSWORD, ADDRESS);
    const second = await accounts.login("ann@example.com", PASSWORD, ADDRESS);
    expect(first.account.id).toBe(accountId);
    await accounts.logout(first.token);
    expect(await accounts.authenticate(first.token)).toBeUndefined();
    expect(await accounts.authenticate(second.token)).toBeDefined();
  });

  it("login() leaves no session if the password changed while it was checked", async () => {
    const id = await makeAccount();
    const passwords = quickPasswords();
    const slow = openWith({ passwords });
    const verify = passwords.verify.bind(passwords);
    passwords.verify = async (...args) => {
      const isRight = await verify(...args);
      const passwordHash = await passwords.hash("another one");
      await store.accounts.setPassword({ accountId: id, passwordHash, keptTokenHash: null });
      return isRight;
    };
    await expect(slow.login("ann@example.com", PASSWORD, ADDRESS)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await store.accounts.listSessions(id, clock.now())).toEqual([]);
  });

  it("login() rejects a wrong password and an unknown address with the same error, after a hash of the same cost", async () => {
    const passwords = quickPasswords();
    accounts = openWith({ passwords });
    await makeAccount();
    const verify = vi.spyOn(passwords, "verify");
    const hash = vi.spyOn(passwords, "hash");
    const costOf = (stored: string | undefined): string => (stored ?? "").split("$").slice(0, 4).join("$");
    const failure = (email: string): Promise<unknown> =>
      accounts.login(email, "wrong password", ADDRESS).catch((error: unknown) => error);
    const wrong = await failure("ann@example.com");
    expect(wrong).toMatchObject({ code: "unauthenticated" });
    expect(verify).toHaveBeenCalledTimes(1);
    expect(hash).not.toHaveBeenCalled();
    expect(await failure("nobody@example.com")).toEqual(wrong);
    expect(verify).toHaveBeenLastCalledWith("wrong password", undefined);
    expect(hash).toHaveBeenCalledTimes(1);
    expect(costOf(await hash.mock.results[0]?.value)).toBe(costOf(verify.mock.calls[0]?.[1]));
  });

  it("login() allows 5 attempts per minute and address, in a sliding window", async () => {
    const attempt = (address: string): Promise<unknown> =>
      accounts.login("nobody@example.com", PASSWORD, address).catch((error: unknown) => error);
    for (let i = 0; i < 5; i++) {
      expect(await attempt(ADDRESS)).toMatchObject({ code: "unauthenticated" });
      clock.advance(1_000);
    }
    expect(await attempt(ADDRESS)).toMatchObject({ code: "rate_limited", limit: "login_attempts", retryAfterS: 55 });
    expect(await attempt("203.0.113.8")).toMatchObject({ code: "unauthenticated" });
    clock.advance(54_999);
    expect(await attempt(ADDRESS)).toMatchObject({ code: "rate_limited", retryAfterS: 1 });
    clock.advance(1);
    expect(await attempt(ADDRESS)).toMatchObject({ code: "unauthenticated" });
    expect(await attempt(ADDRESS)).toMatchObject({ code: "rate_limited" });
  });

  it("authenticate() accepts a key with its scopes until it is revoked", async () => {
    const accountId = await makeAccount();
    const { key, secret } = await accounts.createKey(accountId, { scopes: ["read"] });
    expect(secret).toMatch(/^ak_[0-9A-Za-z]{40}$/);
    expect(key).toMatchObject({ name: "API key", prefix: secret.slice(0, 11), scopes: ["read"], lastUsedAtMs: null });
    expect(await accounts.authenticate(secret)).toEqual({
      kind: "key",
      accountId,
      keyId: key.id,
      keyNumber: key.number,
      keyTrust: null,
      scopes: ["read"],
      limits: { requestsPerMinute: 100, concurrentJobs: 10, concurrentStreams: 5, share: 100 },
      role: "user",
      suspensionReason: null,
    });
    expect(await accounts.revokeKey(accountId, key.id)).toBe(true);
    expect(await accounts.authenticate(secret)).toBeUndefined();
    expect(await accounts.revokeKey(accountId, key.id)).toBe(false);
  });

  it("authenticate() rejects credentials that a request stored for an account that was deleted in the meantime", async () => {
    const id = await makeAccount();
    await store.accounts.delete(id, clock.now());
    const key = await accounts.createKey(id, {});
    const island = await accounts.islandTokens.create(id);
    const { code } = await accounts.islandTokens.createCode(id);
    const paired = await accounts.islandTokens.redeem(code, ADDRESS);
    expect(await accounts.authenticate(key.secret)).toBeUndefined();
    expect(await accounts.authenticateIsland(island.secret)).toBeUndefined();
    expect(await accounts.authenticateIsland(paired.secret)).toBeUndefined();
  });

  it("createKey() grants every scope by default, and refuses unknown ones", async () => {
    const accountId = await makeAccount();
    expect((await accounts.createKey(accountId)).key.scopes).toEqual(["read", "write"]);
    expect((await accounts.createKey(accountId, { scopes: ["write", " read "] })).key.scopes).toEqual([
      "read",
      "write",
    ]);
    for (const scopes of [["admin"], [], [""]]) {
      await expect(accounts.createKey(accountId, { scopes })).rejects.toMatchObject({ details: [{ path: "scopes" }] });
    }
  });

  it("authenticate() rejects unknown, malformed and Island tokens, and authenticateIsland() rejects keys", async () => {
    const accountId = await makeAccount();
    const { secret: key } = await accounts.createKey(accountId);
    const { token, secret: islandToken } = await accounts.islandTokens.create(accountId);
    for (const wrong of ["", "ak_", `ak_${"x".repeat(40)}`, `${key}x`, key.toLowerCase(), islandToken]) {
      expect(await accounts.authenticate(wrong)).toBeUndefined();
    }
    expect(await accounts.authenticateIsland(key)).toBeUndefined();
    expect(await accounts.authenticateIsland(islandToken)).toEqual({
      accountId,
      tokenId: token.id,
      tokenCreatedAtMs: token.createdAtMs,
    });
    expect(await accounts.islandTokens.revoke(accountId, token.id)).toBe(true);
    expect(await accounts.authenticateIsland(islandToken)).toBeUndefined();
  });

  it("authenticate() records the use of a key at most once a second", async () => {
    const writes: number[] = [];
    const counting = Object.create(store.accounts, {
      touchKey: {
        value: (id: string, atMs: number) => {
          writes.push(atMs);
          return store.accounts.touchKey(id, atMs);
        },
      },
      findKey: { value: (hash: string) => store.accounts.findKey(hash) },
      accountStatus: { value: (accountId: string) => store.accounts.accountStatus(accountId) },
      credentialsRevision: { value: () => store.accounts.credentialsRevision() },
    }) as TestStore["accounts"];
    const { key, secret } = await accounts.createKey(await makeAccount());
    accounts = openWith({ accountStore: counting });
    for (const waitMs of [0, 500, 499, 1]) {
      clock.advance(waitMs);
      await accounts.authenticate(secret);
    }
    await accounts.settled();
    expect(writes).toEqual([clock.now() - 1_000, clock.now()]);
    expect((await store.accounts.listKeys(key.accountId))[0]?.lastUsedAtMs).toBe(clock.now());
  });

  it("authenticate() succeeds if the use of a key cannot be recorded, and logs the failure", async () => {
    const failing = Object.create(store.accounts, {
      touchKey: { value: () => Promise.reject(new Error("disk full")) },
      findKey: { value: (hash: string) => store.accounts.findKey(hash) },
      accountStatus: { value: (accountId: string) => store.accounts.accountStatus(accountId) },
      credentialsRevision: { value: () => store.accounts.credentialsRevision() },
    }) as TestStore["accounts"];
    const { secret } = await accounts.createKey(await makeAccount());
    accounts = openWith({ accountStore: failing });
    expect(await accounts.authenticate(secret)).toBeDefined();
    await accounts.settled();
    expect(logged).toMatchObject([{ err: { message: "disk full" } }]);
  });

  it.skipIf(IS_POSTGRES)("stores no secret", async () => {
    accounts = openWith({ passwords: openPasswords() });
    const { token, account } = await register("ann@example.com", PASSWORD);
    const { secret } = await accounts.createKey(account.id);
    const { secret: islandToken } = await accounts.islandTokens.create(account.id);
    await store.close();
    const { readFileSync } = await import("node:fs");
    const bytes = readFileSync(folder.file("atoll.db"));
    for (const text of [token, secret, islandToken, PASSWORD]) expect(bytes.includes(text)).toBe(false);
    expect(bytes.includes("scrypt$32768$8$1$")).toBe(true);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAccounts, type Accounts } from "../../../coordinator/accounts/accounts.ts";
import { unsharedCredentials } from "../../../coordinator/cluster/credential-watch.ts";
import type { Identity } from "../../../coordinator/accounts/identity.ts";
import { hashSecret, newSecret } from "../../../coordinator/accounts/secrets.ts";
import { newId } from "../../../shared/ids.ts";
import { PASSWORD_HASH } from "../../support/store/account-rows.ts";
import { MailServer } from "../../support/servers/mail-server.ts";
import { testEnv } from "../../support/test-env.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { temporaryFolder } from "../store/contract/store-builders.ts";
import { quickPasswords } from "../../support/quick-passwords.ts";
import { openTestStore, type TestStore } from "../../support/store/test-store.ts";

const [EMAIL, OLD, NEW, ADDRESS] = ["ada@example.com", "correct horse", "battery staple", "192.0.2.1"];
const MINUTE_MS = 60_000;
const SESSION = newSecret("st");

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
let store: TestStore;
let accounts: Accounts;
let mails: MailServer;

function openWith(mail: { readonly smtpUrl?: string; readonly mailFrom?: string }): Accounts {
  const log = { ...testEnv().log, error: (facts: object) => expect.fail(JSON.stringify(facts)) };
  const env = testEnv({ newAccountMicro: 0, ...mail }, { clock, log });
  return openAccounts(env, store.accounts, "open", unsharedCredentials(store.accounts, env), quickPasswords());
}

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  store = await openTestStore({ path: folder.file("atoll.db"), clock });
  mails = await MailServer.open();
  accounts = openWith({ smtpUrl: mails.url, mailFrom: "atoll@mail.example" });
});
afterEach(async () => {
  await accounts.settled();
  await mails[Symbol.asyncDispose]();
  await store.close();
  folder[Symbol.dispose]();
});

/** Creates an account with the old password and a session, without the cost of a hash. */
async function open(): Promise<{ readonly id: string; readonly token: string }> {
  const id = newId("user", clock.now());
  const tokenHash = hashSecret(SESSION);
  await store.accounts.create({ id, email: EMAIL, passwordHash: PASSWORD_HASH, postings: [], createdAtMs: 1 });
  const session = { accountId: id, tokenHash, createdAtMs: clock.now(), expiresAtMs: clock.now() + 30 * 86_400_000 };
  await store.accounts.createSession(session, 20);
  return { id, token: SESSION };
}

const identify = async (token: string): Promise<Identity & { kind: "session" }> => {
  const identity = await accounts.authenticate(token);
  if (identity?.kind !== "session") throw new Error("The session is over");
  return identity;
};
const signIn = async (password: string) => (await accounts.login(EMAIL, password, ADDRESS)).token;
const isOpen = async (token: string) => (await accounts.authenticate(token)) !== undefined;

describe("a change of the password", () => {
  it("requires the current password, ends all other sessions and keeps API keys", async () => {
    const { token, id } = await open();
    const other = await signIn(OLD);
    const { secret } = await accounts.createKey(id);
    const caller = { ...(await identify(token)), address: ADDRESS };
    await expect(accounts.passwordChanges.change(caller, "wrong horse", NEW)).rejects.toMatchObject({
      details: [{ path: "current", message: "is not the account's password" }],
    });
    await expect(accounts.passwordChanges.change(caller, OLD, "short")).rejects.toMatchObject({
      details: [{ path: "new" }],
    });
    await accounts.passwordChanges.change(caller, OLD, NEW);
    expect([await isOpen(token), await isOpen(other), await isOpen(secret)]).toEqual([true, false, true]);
    clock.advance(MINUTE_MS);
    await expect(signIn(OLD)).rejects.toMatchObject({ code: "unauthenticated" });
    await signIn(NEW);
  });

  it("can be attempted 5 times per minute, regardless of the number of addresses", async () => {
    const { token } = await open();
    const identity = await identify(token);
    const attempt = (index: number) =>
      accounts.passwordChanges.check({ ...identity, address: `198.51.100.${index}` }, "wrong horse", "current");
    for (let index = 0; index < 5; index += 1) {
      await expect(attempt(index)).rejects.toMatchObject({ code: "validation_failed" });
    }
    await expect(attempt(9)).rejects.toMatchObject({ code: "rate_limited", limit: "login_attempts" });
  });
});

describe("a password reset", () => {
  it("works once if the operator creates it, ends all sessions, and is stored only as a hash", async () => {
    const { token: session, id } = await open();
    const { token, expiresAtMs } = await accounts.passwordChanges.createReset(id);
    expect([token, expiresAtMs]).toEqual([expect.stringMatching(/^pr_\w{40}$/), clock.now() + 86_400_000]);
    expect(await store.accounts.findReset(token, clock.now())).toBeUndefined();
    await accounts.passwordChanges.reset(token, NEW, ADDRESS);
    expect(await isOpen(session)).toBe(false);
    await expect(accounts.passwordChanges.reset(token, "third password", ADDRESS)).rejects.toMatchObject({
      code: "bad_request",
    });
    await signIn(NEW);
  });

  it("expires, and is voided by another change of the password", async () => {
    const { token: session, id } = await open();
    const late = await accounts.passwordChanges.createReset(id);
    clock.advance(86_400_000);
    await expect(accounts.passwordChanges.reset(late.token, NEW, ADDRESS)).rejects.toMatchObject({
      code: "bad_request",
    });
    const { token } = await accounts.passwordChanges.createReset(id);
    await accounts.passwordChanges.change({ ...(await identify(session)), address: ADDRESS }, OLD, NEW);
    await expect(accounts.passwordChanges.reset(token, OLD, ADDRESS)).rejects.toMatchObject({ code: "bad_request" });
  });

  it("works for one of two concurrent uses", async () => {
    const { id } = await open();
    const { token } = await accounts.passwordChanges.createReset(id);
    const both = await Promise.allSettled([
      accounts.passwordChanges.reset(token, NEW, ADDRESS),
      accounts.passwordChanges.reset(token, "third password", ADDRESS),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("is mailed to an account's address, and the response for other addresses is the same", async () => {
    await open();
    for (const email of [EMAIL.toUpperCase(), "nobody@example.com"]) {
      expect(accounts.passwordChanges.request(email, ADDRESS)).toBeUndefined();
    }
    await accounts.settled();
    expect(mails.waiting).toBe(1);
    const { to, text: encoded } = await mails.next();
    // Quoted-printable breaks long lines this way.
    const text = encoded.replaceAll("=\r\n", "");
    expect([to, text]).toEqual([[EMAIL], expect.stringContaining(new Date(clock.now() + 3_600_000).toISOString())]);
    await accounts.passwordChanges.reset(/pr_\w{40}/.exec(text)?.[0] ?? "", NEW, ADDRESS);
  });

  it("is mailed at most 3 times while unused and unexpired, and can be requested 5 times per minute", async () => {
    const { id } = await open();
    for (let count = 0; count < 5; count += 1) accounts.passwordChanges.request(EMAIL, ADDRESS);
    expect(() => accounts.passwordChanges.request(EMAIL, ADDRESS)).toThrow("login_attempts");
    await accounts.settled();
    expect(mails.waiting).toBe(3);
    await expect(accounts.passwordChanges.createReset(id)).rejects.toMatchObject({ code: "bad_request" });
    clock.advance(3_600_000);
    await accounts.passwordChanges.createReset(id);
  });

  it("cannot be requested if the coordinator sends no mail", async () => {
    expect(() => openWith({}).passwordChanges.request(EMAIL, ADDRESS)).toThrow("sends no e-mail");
  });
});

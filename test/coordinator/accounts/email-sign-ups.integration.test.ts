import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAccounts, type Accounts } from "../../../coordinator/accounts/accounts.ts";
import { unsharedCredentials } from "../../../coordinator/cluster/credential-watch.ts";
import { temporaryFolder } from "../store/contract/store-builders.ts";
import { call } from "../../support/http/http.ts";
import { MailServer } from "../../support/servers/mail-server.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { quickPasswords } from "../../support/quick-passwords.ts";
import { IS_POSTGRES, openTestStore, type TestStore } from "../../support/store/test-store.ts";

const PASSWORD = "correct horse";
const FROM = "Atoll <atoll@mail.example>";
const tokenOf = (text: string): string => /ep_[0-9A-Za-z]{40}/.exec(text)?.[0] ?? "";

let mails: MailServer;
beforeEach(async () => {
  mails = await MailServer.open();
});
afterEach(() => mails[Symbol.asyncDispose]());

describe("a coordinator with registration by e-mail", () => {
  it("gives the same response for any address, and creates the account once, with the mailed token", async () => {
    const env = { ATOLL_SMTP_URL: mails.url, ATOLL_MAIL_FROM: FROM };
    await using coordinator = await TestCoordinator.open(
      { registration: "email", publicUrl: "https://a.example" },
      env,
    );
    await coordinator.createAccount("ann@example.com");
    const register = (email: string) =>
      call(coordinator.url, null, "POST", "/auth/register", { email, password: PASSWORD });
    const verify = (token: string) =>
      call(coordinator.url, null, "POST", "/auth/verify", { token, password: "my own 1" });
    const ofNew = await register("new@example.com");
    const toNew = await mails.next();
    const ofTaken = await register("ann@example.com");
    const toTaken = await mails.next();
    expect([ofNew.status, ofNew.body]).toEqual([202, { data: { accepted: true } }]);
    expect([ofTaken.status, ofTaken.body]).toEqual([ofNew.status, ofNew.body]);
    expect(toNew).toMatchObject({ from: "atoll@mail.example", to: ["new@example.com"] });
    expect(toNew.text).toContain("https://a.example");
    expect(toTaken.to).toEqual(["ann@example.com"]);
    expect([toTaken.text.includes("has an account already"), tokenOf(toTaken.text)]).toEqual([true, ""]);

    const token = tokenOf(toNew.text);
    expect((await verify(`ep_${"x".repeat(40)}`)).status).toBe(400);
    const verified = await verify(token);
    expect([verified.status, verified.body.data.account.email]).toEqual([201, "new@example.com"]);
    expect((await verify(token)).status).toBe(400);
    // The account gets the password that was sent with the verification, not the password of the registration.
    await coordinator.withStore(async (_, accounts) => {
      await accounts.login("new@example.com", "my own 1", "here");
      await expect(accounts.login("new@example.com", PASSWORD, "here")).rejects.toThrow("Wrong");
    });
  });
});

describe("registration by e-mail", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let clock: ManualClock;
  let store: TestStore;
  let logged: object[];
  let accounts: Accounts;
  const open = (url: string): void => {
    const log = { ...testEnv().log, error: (facts: object) => void logged.push(facts) };
    const env = testEnv({ newAccountMicro: 0, smtpUrl: url, mailFrom: FROM }, { clock, log });
    accounts = openAccounts(env, store.accounts, "email", unsharedCredentials(store.accounts, env), quickPasswords());
  };
  beforeEach(async () => {
    folder = temporaryFolder();
    clock = new ManualClock();
    logged = [];
    store = await openTestStore({ path: folder.file("atoll.db"), clock });
    open(mails.url);
  });
  afterEach(async () => {
    await accounts.settled();
    await store.close();
    folder[Symbol.dispose]();
  });
  let lastAddress = 0;
  const newAddress = (): string => `client ${(lastAddress += 1)}`;
  const register = async (email: string): Promise<void> => {
    expect(await accounts.register(email, PASSWORD, newAddress())).toBeNull();
    await accounts.settled();
  };

  it.each([["new@example.com"], ["ANN@example.com"]])("mails %s again only after 10 minutes", async (email) => {
    await accounts.createAccount({ email: "ann@example.com", password: PASSWORD });
    await register(email);
    await register(email);
    clock.advance(600_000 - 1);
    await register(email);
    expect(mails.waiting).toBe(1);
    clock.advance(1);
    await register(email);
    expect(mails.waiting).toBe(2);
  });

  it.each([
    ["in angle brackets", "<ann@example.com>"],
    ["with a soft hyphen", "ann@exam\u00adple.com"],
    ["in wide letters", "ann@\uff45xample.com"],
    ["with the dot of its root", "ann@example.com."],
    ["in quotes", '"ann"@example.com'],
  ])("mails nothing to an address %s, another spelling of the same mailbox", async (_how, email) => {
    await expect(accounts.register(email, PASSWORD, newAddress())).rejects.toThrow("must be an e-mail address");
    await accounts.settled();
    expect(mails.waiting).toBe(0);
  });

  it("creates an account with the most recently mailed token within an hour, and stores no plain token", async () => {
    await register("new@example.com");
    const first = tokenOf((await mails.next()).text);
    clock.advance(600_000);
    await register("new@example.com");
    const second = tokenOf((await mails.next()).text);
    const stored = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name), "latin1"));
    if (!IS_POSTGRES) expect(stored.some((content) => content.includes("new@example.com"))).toBe(true);
    expect(stored.some((content) => content.includes(second))).toBe(false);
    const wrong = { code: "bad_request" };
    await expect(accounts.verify(first, PASSWORD, newAddress())).rejects.toMatchObject(wrong);
    clock.advance(3_600_000 - 1);
    expect((await accounts.verify(second, PASSWORD, newAddress())).account.email).toBe("new@example.com");
    await register("late@example.com");
    const late = tokenOf((await mails.next()).text);
    clock.advance(3_600_000);
    await expect(accounts.verify(late, PASSWORD, newAddress())).rejects.toMatchObject(wrong);
  });

  it("counts both steps against the client's address, and logs a mail that could not be sent", async () => {
    open("smtp://127.0.0.1:1");
    expect(await accounts.register("new@example.com", PASSWORD, "here")).toBeNull();
    for (let i = 0; i < 4; i += 1) await expect(accounts.verify("ep_", PASSWORD, "here")).rejects.toThrow("token");
    await expect(accounts.verify("ep_", PASSWORD, "here")).rejects.toThrow("login_attempts");
    await expect(accounts.register("other@example.com", PASSWORD, "here")).rejects.toThrow("login_attempts");
    await accounts.settled();
    expect(logged).toHaveLength(1);
  });

  it("mails at once to an address whose first mail could not be sent", async () => {
    open("smtp://127.0.0.1:1");
    await register("new@example.com");
    open(mails.url);
    await register("new@example.com");
    expect([logged.length, mails.waiting]).toEqual([1, 1]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAccounts } from "../../../coordinator/accounts/accounts.ts";
import { unsharedCredentials } from "../../../coordinator/cluster/credential-watch.ts";
import { openBackground, type Background } from "../../../coordinator/accounts/background.ts";
import { openEmailChanges } from "../../../coordinator/accounts/mailed-tokens.ts";
import type { Mail } from "../../../coordinator/mail/smtp-mailer.ts";
import { MailServer } from "../../support/servers/mail-server.ts";
import { quickPasswords } from "../../support/quick-passwords.ts";
import { testEnv } from "../../support/test-env.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { openTestStore, type TestStore } from "../../support/store/test-store.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";

const HOUR_MS = 3_600_000;
const tokenOf = ({ text }: Pick<Mail, "text">): string => /ep_[0-9A-Za-z]{40}/.exec(text)?.[0] ?? "";

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
let store: TestStore;
let mails: Mail[];
let logged: object[];
let sends: () => Promise<void>;
let background: Background;
let changes: ReturnType<typeof openEmailChanges>;
let accountId: string;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  [mails, logged, sends] = [[], [], async () => undefined];
  store = await openTestStore({ path: folder.file("atoll.db"), clock });
  accountId = await makeAccount(store, { email: "ann@example.com" });
  background = openBackground({ error: (facts: object) => void logged.push(facts) });
  const send = async (mail: Mail): Promise<void> => sends().then(() => void mails.push(mail));
  const env = testEnv({ publicUrl: "https://a.example" }, { clock });
  changes = openEmailChanges(env, store.accounts, send, background);
});
afterEach(async () => {
  await background.settled();
  await store.close();
  folder[Symbol.dispose]();
});

async function request(email: string): Promise<Mail> {
  (await changes.request(accountId, email))?.();
  await background.settled();
  const mail = mails.at(-1);
  if (mail === undefined) throw new Error(`No mail went to ${email}`);
  return mail;
}
const emailNow = async (): Promise<unknown> => (await store.accounts.get(accountId))?.email;

describe("openEmailChanges()", () => {
  it("sets the address that the mailed token verifies, once, and notifies the old address", async () => {
    const mail = await request("new@example.org");
    expect(mail).toMatchObject({ to: "new@example.org", text: expect.stringContaining("https://a.example") });
    expect(await emailNow()).toBe("ann@example.com");
    await changes.confirm(tokenOf(mail));
    await background.settled();
    expect(await emailNow()).toBe("new@example.org");
    expect(mails[1]).toMatchObject({ to: "ann@example.com", text: expect.stringContaining("new@example.org") });
    await expect(changes.confirm(tokenOf(mail))).rejects.toMatchObject({ code: "bad_request" });
  });

  it("refuses a token that is more than an hour old or was replaced by a later change", async () => {
    const [first, second] = [await request("one@example.org"), await request("two@example.org")];
    await expect(changes.confirm(tokenOf(first))).rejects.toMatchObject({ code: "bad_request" });
    clock.advance(HOUR_MS);
    await expect(changes.confirm(tokenOf(second))).rejects.toMatchObject({ code: "bad_request" });
    expect(await emailNow()).toBe("ann@example.com");
  });

  it("reveals to the owner of an address, but not to the requester, that another account uses it", async () => {
    await makeAccount(store, { email: "bob@example.com" });
    const mail = await request("BOB@example.com");
    expect([tokenOf(mail), mail.text]).toEqual(["", expect.stringContaining("has an account already")]);
  });

  it("does not set an address that another account has taken in the meantime", async () => {
    const mail = await request("new@example.org");
    await makeAccount(store, { email: "new@example.org" });
    await expect(changes.confirm(tokenOf(mail))).rejects.toMatchObject({ code: "email_taken" });
    expect(await emailNow()).toBe("ann@example.com");
  });

  it("mails the same address again only after ten minutes", async () => {
    await request("new@example.org");
    await expect(changes.request(accountId, "NEW@example.org")).rejects.toMatchObject({ code: "rate_limited" });
    clock.advance(600_000);
    await request("new@example.org");
    expect(mails).toHaveLength(2);
  });

  it("mails a token that stays valid if the same request changes the password", async () => {
    await using server = await MailServer.open();
    const env = testEnv({ smtpUrl: server.url, mailFrom: "atoll@mail.example" }, { clock });
    const accounts = openAccounts(
      env,
      store.accounts,
      "open",
      unsharedCredentials(store.accounts, env),
      quickPasswords(),
    );
    const { id } = await accounts.createAccount({ email: "eve@example.com", password: "the old one" });
    const caller = { accountId: id, tokenHash: "current", address: "192.0.2.1" };
    const params = { password: "another password", email: "new@example.org" };
    expect(await accounts.change(caller, "the old one", params)).toMatchObject({ pendingEmail: "new@example.org" });
    await accounts.confirmEmail(tokenOf(await server.next()));
    expect((await store.accounts.get(id))?.email).toBe("new@example.org");
    await accounts.settled();
  });

  it("logs a mail that cannot be sent", async () => {
    sends = () => Promise.reject(new Error("no mail server"));
    (await changes.request(accountId, "new@example.org"))?.();
    await background.settled();
    expect(logged).toHaveLength(1);
  });
});

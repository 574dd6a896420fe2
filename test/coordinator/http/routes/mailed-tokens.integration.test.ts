import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call } from "../../../support/http/http.ts";
import { MailServer } from "../../../support/servers/mail-server.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

const EMAIL = "ann@example.com";
const PASSWORD = "correct horse";

let mails: MailServer;
let coordinator: TestCoordinator;
beforeEach(async () => {
  mails = await MailServer.open();
  const env = { ATOLL_SMTP_URL: mails.url, ATOLL_MAIL_FROM: "atoll@mail.example" };
  coordinator = await TestCoordinator.open({}, env);
  await coordinator.createAccount(EMAIL);
});
afterEach(async () => {
  await coordinator[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});

const post = (path: string, body: object) => call(coordinator.url, null, "POST", path, body);

/** Returns the token of the next mail to an address. Its quoted-printable text may be wrapped inside the token. */
async function nextToken(kind: string, to: string): Promise<string> {
  for (;;) {
    const mail = await mails.next();
    const [token] = new RegExp(`${kind}_[0-9A-Za-z]{40}`).exec(mail.text.replaceAll("=\r\n", "")) ?? [];
    if (mail.to.includes(to) && token !== undefined) return token;
  }
}

describe("POST /auth/password/forgot", () => {
  it("mails a token that sets a new password", async () => {
    const { status, body } = await post("/auth/password/forgot", { email: EMAIL });
    expect([status, body]).toEqual([200, { data: { accepted: true } }]);
    const token = await nextToken("pr", EMAIL);
    const reset = await post("/auth/password/reset", { token, new: "battery staple" });
    expect([reset.status, reset.body]).toEqual([200, { data: { password_changed: true } }]);
    expect((await post("/auth/login", { email: EMAIL, password: "battery staple" })).status).toBe(200);
  });
});

describe("POST /auth/email", () => {
  it("confirms the address that PATCH /account requested", async () => {
    const session = (await post("/auth/login", { email: EMAIL, password: PASSWORD })).body.data.token;
    const change = { current_password: PASSWORD, email: "ann@example.org" };
    const changed = await call(coordinator.url, session, "PATCH", "/account", change);
    expect([changed.status, changed.body.data.pending_email]).toEqual([200, "ann@example.org"]);
    const { status, body } = await post("/auth/email", { token: await nextToken("ep", "ann@example.org") });
    expect([status, body]).toEqual([200, { data: { email_changed: true } }]);
    const credentials = { email: "ann@example.org", password: PASSWORD };
    expect((await post("/auth/login", credentials)).status).toBe(200);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { Api } from "../api.ts";

const PASSWORD = "long enough";
const LATER = "elsewhere a session ends within a second";

let api: Api;
let token: string;
let email: string;
beforeEach(async () => {
  api = await Api.open({ trustProxy: true });
  email = newEmail();
  token = await signIn("register");
});
afterEach(() => api[Symbol.asyncDispose]());

let count = 0;
/** Attempts are counted by address. */
const newAddress = (): Record<string, string> => ({ "x-forwarded-for": `198.51.100.${(count += 1) % 250}` });
const newEmail = (): string => `settings${(count += 1)}@example.com`;

async function signIn(way: "register" | "login", password = PASSWORD): Promise<string> {
  const body = { email, password };
  return (await api.call("POST", `/auth/${way}`, { key: null, body, headers: newAddress() })).body.data?.token;
}
const patch = (body: object, key = token) =>
  api.call("PATCH", "/account", { key, body: { current_password: PASSWORD, ...body }, headers: newAddress() });
const listSessions = async (key = token) => (await api.call("GET", "/sessions", { key })).body.data;

describe("PATCH /account", () => {
  it("changes the address at once if the coordinator sends no mail", async () => {
    email = newEmail();
    const { status, body } = await patch({ email });
    expect([status, body.data]).toMatchObject([200, { email, pending_email: null }]);
    expect((await api.call("GET", "/account", { key: token })).body.data.email).toBe(email);
    expect(await signIn("login")).toMatch(/^st_/);
  });

  it("refuses an address that is taken or invalid, and changes nothing", async () => {
    const taken = await patch({ email: api.account.email, password: "another password" });
    expect([taken.status, taken.body.error.code]).toEqual([422, "email_taken"]);
    const wrong = await patch({ email: "nobody" });
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([422, "email"]);
    expect(await signIn("login")).toMatch(/^st_/);
  });

  it(...unlessSeveral("changes the password, and ends all other sessions", LATER), async () => {
    const other = await signIn("login");
    expect((await patch({ password: "another password" })).status).toBe(200);
    expect((await api.call("GET", "/account", { key: other })).status).toBe(401);
    expect((await api.call("GET", "/account", { key: token })).status).toBe(200);
    expect(await signIn("login")).toBeUndefined();
    expect(await signIn("login", "another password")).toMatch(/^st_/);
  });

  it("requires the current password and a change", async () => {
    const wrong = await patch({ current_password: "wrong password", email: newEmail() });
    expect([wrong.status, wrong.body.error.details]).toEqual([
      422,
      [{ path: "current_password", message: "is not the account's password" }],
    ]);
    expect((await patch({ password: "short" })).body.error.details[0].path).toBe("password");
    expect((await patch({})).status).toBe(422);
    expect((await patch({ email: newEmail() }, api.key)).status).toBe(400);
  });
});

describe("POST /auth/email", () => {
  it("refuses an unknown token", async () => {
    const confirm = (unknown: string) => api.call("POST", "/auth/email", { key: null, body: { token: unknown } });
    for (const unknown of ["x", `ep_${"a".repeat(40)}`]) expect((await confirm(unknown)).status).toBe(400);
  });
});

describe("DELETE /account", () => {
  it("reports which data is kept", async () => {
    const options = { key: token, body: { password: PASSWORD }, headers: newAddress() };
    const { status, body } = await api.call("DELETE", "/account", options);
    expect([status, body.data]).toMatchObject([
      200,
      { deleted: true, kept: [expect.stringMatching(/ledger/), expect.stringMatching(/charge/)] },
    ]);
  });
});

describe("GET /sessions", () => {
  it("lists the sessions of the account, newest first, and marks the current one", async () => {
    api.clock.advance(1_000);
    const second = await signIn("login");
    const sessions = await listSessions(second);
    expect(sessions).toMatchObject([
      { created_at: "2026-01-01T00:00:01.000Z", expires_at: "2026-01-31T00:00:01.000Z", current: true },
      { created_at: "2026-01-01T00:00:00.000Z", expires_at: "2026-01-31T00:00:00.000Z", current: false },
    ]);
    expect(await listSessions()).toMatchObject([{ id: sessions[0].id, current: false }, { current: true }]);
    expect(JSON.stringify(sessions)).not.toContain(second.slice(3));
  });

  it(
    ...unlessSeveral("reports approximately when each was last used", "each coordinator records it separately"),
    async () => {
      await api.call("GET", "/account", { key: token });
      await api.accounts.settled();
      expect(await listSessions()).toMatchObject([{ last_used_at: "2026-01-01T00:00:00.000Z" }]);
      api.clock.advance(61_000);
      await api.call("GET", "/account", { key: token });
      await api.accounts.settled();
      expect(await listSessions()).toMatchObject([{ last_used_at: "2026-01-01T00:01:01.000Z" }]);
    },
  );

  it("needs a session", async () => {
    expect((await api.call("GET", "/sessions")).status).toBe(400);
    expect((await api.call("DELETE", "/sessions/ses_x")).status).toBe(400);
  });
});

describe("DELETE /sessions/{id}", () => {
  it(...unlessSeveral("ends a session of the account, also the current one", LATER), async () => {
    const other = await signIn("login");
    const idOf = async (isCurrent: boolean): Promise<string> =>
      (await listSessions()).find(({ current }: { current: boolean }) => current === isCurrent).id;
    const id = await idOf(false);
    const ended = await api.call("DELETE", `/sessions/${id}`, { key: token });
    expect([ended.status, ended.body.data]).toEqual([200, { id, ended: true }]);
    expect((await api.call("GET", "/account", { key: other })).status).toBe(401);
    expect((await api.call("DELETE", `/sessions/${id}`, { key: token })).status).toBe(404);
    expect((await api.call("DELETE", `/sessions/${await idOf(true)}`, { key: token })).status).toBe(200);
    expect((await api.call("GET", "/account", { key: token })).status).toBe(401);
  });

  it("returns 404 for a session of another account", async () => {
    const [{ id }] = await listSessions();
    email = newEmail();
    const stranger = await signIn("register");
    expect((await api.call("DELETE", `/sessions/${id}`, { key: stranger })).status).toBe(404);
    expect(await listSessions()).toHaveLength(1);
  });
});

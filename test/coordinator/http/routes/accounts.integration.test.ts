import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open({ trustProxy: true });
});
afterEach(() => api[Symbol.asyncDispose]());

let count = 0;
const newEmail = (): string => `someone${(count += 1)}@example.com`;
const sign = (way: "register" | "login", body: unknown, address = "192.0.2.1") =>
  api.call("POST", `/auth/${way}`, { key: null, body, headers: { "x-forwarded-for": `spoofed, ${address}` } });

describe("GET /account", () => {
  it("returns the account with its credits", async () => {
    const { status, body } = await api.call("GET", "/account");
    expect([status, body]).toEqual([
      200,
      {
        data: {
          id: api.accountId,
          email: api.account.email,
          credits: 10_000.5,
          role: "user",
          created_at: "2026-01-01T00:00:00.000Z",
        },
      },
    ]);
  });
});

describe("sessions", () => {
  it("start with a new account and last 30 days", async () => {
    const email = newEmail();
    const { status, body } = await sign("register", { email, password: "long enough" });
    expect([status, body]).toEqual([
      201,
      {
        data: {
          token: expect.stringMatching(/^st_[0-9A-Za-z]{40}$/) as string,
          expires_at: "2026-01-31T00:00:00.000Z",
          account: {
            id: expect.stringMatching(/^user_[0-9A-Z]{26}$/) as string,
            email,
            credits: 10_000.5,
            role: "user",
            created_at: "2026-01-01T00:00:00.000Z",
          },
        },
      },
    ]);
    const again = await sign("login", { email, password: "long enough" });
    expect([again.status, again.body.data.account]).toEqual([200, body.data.account]);
    expect(again.body.data.token).not.toBe(body.data.token);
  });

  it(
    ...unlessSeveral("have every scope, until they are ended", "at other coordinators a session ends within a second"),
    async () => {
      const { token } = (await sign("register", { email: newEmail(), password: "long enough" })).body.data;
      expect((await api.call("GET", "/account", { key: token })).status).toBe(200);
      expect((await api.call("POST", "/api-keys", { key: token, body: {} })).status).toBe(201);
      const ended = await api.call("POST", "/auth/logout", { key: token });
      expect([ended.status, ended.body]).toEqual([200, { data: { logged_out: true } }]);
      expect((await api.call("GET", "/account", { key: token })).status).toBe(401);
      expect((await api.call("POST", "/auth/logout", { key: token })).status).toBe(401);
    },
  );

  it("are limited to 20 per account, so that a new session ends the oldest", async () => {
    const body = { email: newEmail(), password: "long enough" };
    const tokens = [(await sign("register", body)).body.data.token as string];
    for (let i = 0; i < 20; i += 1) {
      api.clock.advance(1_000);
      tokens.push((await sign("login", body, `192.0.2.${i}`)).body.data.token as string);
    }
    const statuses = [];
    for (const key of tokens) statuses.push((await api.call("GET", "/account", { key })).status);
    expect(statuses).toEqual([401, ...Array.from({ length: 20 }, () => 200)]);
  });

  it("end after 30 days", async () => {
    const { token } = (await sign("register", { email: newEmail(), password: "long enough" })).body.data;
    api.clock.advance(30 * 24 * 3_600_000);
    expect((await api.call("GET", "/account", { key: token })).status).toBe(401);
  });

  it("are not available with an API key", async () => {
    const { status, body } = await api.call("POST", "/auth/logout");
    expect([status, body.error.code]).toEqual([400, "bad_request"]);
    expect((await api.call("GET", "/account")).status).toBe(200);
  });

  it("are refused with the same error for a wrong password and an unknown address", async () => {
    const email = newEmail();
    await sign("register", { email, password: "long enough" });
    const wrong = await sign("login", { email, password: "long enougH" });
    const unknown = await sign("login", { email: newEmail(), password: "long enough" });
    expect([wrong.status, wrong.body]).toEqual([
      401,
      { error: { message: "Wrong e-mail address or password", code: "unauthenticated" } },
    ]);
    expect(unknown.body).toEqual(wrong.body);
  });

  it.each([
    [{}, ["email", "password"]],
    [{ email: 5, password: null }, ["email", "password"]],
    [{ email: "nobody", password: "short" }, ["email", "password"]],
    [{ email: "a@example.com", password: "x".repeat(2_000) }, ["password"]],
  ])("require valid credentials: %#", async (body, paths) => {
    const response = await sign("register", body);
    expect([response.status, response.body.error.code]).toEqual([422, "validation_failed"]);
    expect(response.body.error.details.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  it("require an address that is not in use", async () => {
    const email = newEmail();
    await sign("register", { email, password: "long enough" });
    const { status, body } = await sign("register", { email: email.toUpperCase(), password: "long enough" });
    expect([status, body.error.code]).toEqual([422, "email_taken"]);
  });

  it(
    ...unlessSeveral(
      "are limited to 5 attempts a minute for each address behind the proxy",
      "each counts addresses separately",
    ),
    async () => {
      const body = { email: "nobody", password: "short" };
      for (let attempt = 0; attempt < 5; attempt += 1) expect((await sign("register", body)).status).toBe(422);
      const sixth = await sign("register", body);
      expect([sixth.status, sixth.headers.get("retry-after"), sixth.body.error]).toEqual([
        429,
        "60",
        {
          message: "Rate limit exceeded (login_attempts); retry in 60 s",
          code: "rate_limited",
          retry_after: 60,
          limit: "login_attempts",
        },
      ]);
      expect((await sign("register", body, "192.0.2.2")).status).toBe(422);
    },
  );

  it("are not created by registering if that is closed", async () => {
    await using closed = await Api.open({}, "closed");
    const { status } = await closed.call("POST", "/auth/register", {
      key: null,
      body: { email: newEmail(), password: "long enough" },
    });
    expect(status).toBe(403);
  });

  it(
    ...unlessSeveral(
      "are counted by the socket's address when no proxy is trusted",
      "each counts addresses separately",
    ),
    async () => {
      await using direct = await Api.open();
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 6; attempt += 1) {
        const headers = { "x-forwarded-for": `192.0.2.${attempt}` };
        const body = { email: "nobody", password: "short" };
        statuses.push((await direct.call("POST", "/auth/register", { key: null, body, headers })).status);
      }
      expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
    },
  );
});

const NO_LIMITS = { expires_at: null, cargos: null, credits_per_month: null, trust: null };

describe("API keys", () => {
  const create = (body: unknown, key = api.key) => api.call("POST", "/api-keys", { key, body });

  it("are returned in both of the spec's formats", async () => {
    const { status, body } = await create({ name: "ci", scopes: "read,write" });
    const { id, key } = body as { id: string; key: string };
    expect(id).toMatch(/^key_[0-9A-Z]{26}$/);
    expect(key).toMatch(/^ak_[0-9A-Za-z]{40}$/);
    const shown = { id, name: "ci", scopes: ["read", "write"], created_at: "2026-01-01T00:00:00.000Z" };
    const data = { ...shown, prefix: key.slice(0, 11), ...NO_LIMITS, key };
    expect([status, body]).toEqual([201, { data, key, ...shown }]);
    expect((await api.call("GET", "/account", { key })).status).toBe(200);
  });

  it.each([
    [{}, "API key", ["read", "write"]],
    [{ name: " n " }, "n", ["read", "write"]],
    [{ scopes: "write" }, "API key", ["write"]],
    [{ scopes: "write, read" }, "API key", ["read", "write"]],
    [{ scopes: ["read", "read"] }, "API key", ["read"]],
  ])("accept %j", async (body, name, scopes) => {
    expect((await create(body)).body).toMatchObject({ name, scopes });
  });

  it.each([
    [{ name: 5 }, "name"],
    [{ name: "n".repeat(101) }, "name"],
    [{ scopes: "" }, "scopes.0"],
    [{ scopes: [] }, "scopes"],
    [{ scopes: "read,admin" }, "scopes.1"],
    [{ scopes: ["admin"] }, "scopes.0"],
    [{ scopes: 7 }, "scopes"],
  ])("refuse %j", async (body, path) => {
    const response = await create(body);
    expect([response.status, response.body.error.details[0].path]).toEqual([422, path]);
  });

  it("grant no scope that their creator lacks", async () => {
    for (const body of [{}, { scopes: "read" }, { scopes: "read,write" }]) {
      expect((await create(body, api.writeKey)).body.error.code).toBe("insufficient_scope");
    }
    expect((await create({ scopes: "write" }, api.writeKey)).status).toBe(201);
    expect((await api.call("GET", "/api-keys")).body.data).toHaveLength(4);
  });

  it("are listed without their secrets, with their last use", async () => {
    const list = () => api.call("GET", "/api-keys", { key: api.readKey });
    const { text, body } = await list();
    for (const secret of [api.key, api.readKey, api.writeKey]) expect(text).not.toContain(secret);
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(["write", "read", "read+write"]);
    // The use is stored in the background, with several coordinators by any of them.
    await expect
      .poll(async () => (await list()).body.data[1])
      .toEqual({
        id: expect.stringMatching(/^key_/) as string,
        name: "read",
        prefix: api.readKey.slice(0, 11),
        scopes: ["read"],
        created_at: "2026-01-01T00:00:00.000Z",
        last_used_at: "2026-01-01T00:00:00.000Z",
        ...NO_LIMITS,
        credits_this_month: null,
      });
    expect((await list()).body.data[0].last_used_at).toBeNull();
  });

  it("stop working when they are revoked", async () => {
    const { id, key } = (await create({})).body;
    const revoked = await api.call("DELETE", `/api-keys/${id}`);
    expect([revoked.status, revoked.body]).toEqual([200, { data: { id, revoked: true } }]);
    expect((await api.call("GET", "/account", { key })).status).toBe(401);
    expect((await api.call("DELETE", `/api-keys/${id}`)).status).toBe(404);
    expect((await api.call("GET", "/api-keys")).body.data).toHaveLength(3);
  });

  it("are limited to 50 per account, where a revoked one counts as long as its requests do", async () => {
    await api.setLimits({ requestsPerMinute: 1_000 });
    const made = await Promise.all(Array.from({ length: 60 }, () => create({})));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(47);
    const refused = made.find(({ status }) => status !== 201);
    expect([refused?.status, refused?.body.error.code]).toEqual([422, "too_many_keys"]);
    expect((await api.call("GET", "/api-keys")).body.data).toHaveLength(50);
    await api.call("DELETE", `/api-keys/${made[0]?.body.id}`);
    expect((await create({})).status).toBe(422);
    api.clock.advance(60_000);
    expect((await create({})).status).toBe(201);
    expect((await create({})).status).toBe(422);
  });

  it("return 404 to another account", async () => {
    await using other = await Api.open();
    const { id } = (await other.call("POST", "/api-keys", { body: {} })).body;
    const { status, body } = await api.call("DELETE", `/api-keys/${id}`);
    expect([status, body.error.code]).toEqual([404, "not_found"]);
    expect((await other.call("GET", "/api-keys")).body.data).toHaveLength(4);
  });
});

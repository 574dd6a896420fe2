import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import { Listener } from "../../events/listener.ts";
import { Api, type ApiResponse } from "../api.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open({ trustProxy: true });
});
afterEach(() => api[Symbol.asyncDispose]());

const PASSWORD = "long enough";
const CONSOLE = { "atoll-console": "1" };
const SESSION_MS = 30 * 24 * 3_600_000;

const newEmail = (): string => `${newId("user", 0)}@example.com`;
const from = (address: string) => ({ "x-forwarded-for": address });

function sign(way: "register" | "login", body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
  return api.call("POST", `/auth/${way}`, { key: null, body, headers: { ...from("192.0.2.1"), ...headers } });
}

/** Returns `name=value` of the cookie that a response sets. */
function cookieOf(response: ApiResponse): string {
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

async function signedIn(email = newEmail()): Promise<string> {
  return cookieOf(await sign("register", { email, password: PASSWORD }, CONSOLE));
}

const asPage = (cookie: string, headers: Record<string, string> = CONSOLE) => ({
  key: null,
  headers: { cookie, ...headers },
});

describe("signing in from a page of the coordinator", () => {
  it("sets a cookie that scripts cannot read, and omits the token from the body", async () => {
    const credentials = { email: newEmail(), password: PASSWORD };
    for (const [way, status] of [
      ["register", 201],
      ["login", 200],
    ] as const) {
      const response = await sign(way, credentials, CONSOLE);
      expect([response.status, Object.keys(response.body.data)]).toEqual([status, ["expires_at", "account"]]);
      const [cookie = ""] = response.headers.getSetCookie();
      expect(cookie.replace(/st_\w{40}/, "TOKEN")).toBe(
        "atoll_session=TOKEN; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict",
      );
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      const account = await api.call("GET", "/account", asPage(cookieOf(response)));
      expect([account.status, account.body.data.email]).toEqual([200, credentials.email]);
      expect(account.headers.get("cache-control")).toBe("private, no-store");
    }
  });

  it("marks the cookie Secure only behind https", async () => {
    const https = { ...CONSOLE, "x-forwarded-proto": "https" };
    const response = await sign("register", { email: newEmail(), password: PASSWORD }, https);
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/; SameSite=Strict; Secure$/)]);
  });

  it("sets no cookie for other clients, so that another site cannot sign a browser in to its own account", async () => {
    const credentials = { email: newEmail(), password: PASSWORD };
    const response = await sign("register", credentials);
    expect([response.headers.getSetCookie(), typeof response.body.data.token]).toEqual([[], "string"]);
    const form = { ...from("192.0.2.2"), "content-type": "text/plain", origin: "https://evil.example" };
    const forged = await api.fetch("POST", "/auth/login", {
      key: null,
      body: JSON.stringify(credentials),
      headers: form,
    });
    expect(forged.headers.getSetCookie()).toEqual([]);
  });
});

describe("a request with the cookie", () => {
  it("is refused without the header, whatever another site makes a browser send", async () => {
    const cookie = await signedIn();
    const forgeries: [string, string, Record<string, string>][] = [
      // A form of another site, which browsers send without a preflight request.
      ["POST", "/api-keys", { "content-type": "text/plain", origin: "https://evil.example" }],
      ["POST", "/api-keys", { "content-type": "application/x-www-form-urlencoded" }],
      // A fetch without the header by the coordinator's own page, a link, and an image.
      ["GET", "/account", { "sec-fetch-site": "same-origin" }],
      ["GET", "/account", {}],
      ["POST", "/auth/logout", { origin: "https://evil.example" }],
      // A request with the header, which the preflight response forbids, and with the browser's report of the page's
      // origin.
      ["GET", "/account", { ...CONSOLE, "sec-fetch-site": "cross-site" }],
      ["GET", "/account", { ...CONSOLE, "sec-fetch-site": "same-site" }],
      ["GET", "/account", { "atoll-console": "true" }],
      // An EventSource of another site, and an EventSource for a request that changes something.
      ["GET", "/account", { accept: "text/event-stream", origin: "https://evil.example" }],
      ["GET", "/account", { accept: "text/event-stream", "sec-fetch-site": "same-site" }],
      ["DELETE", "/jobs/job_1", { accept: "text/event-stream" }],
      // An explicit credential takes precedence, even an invalid one.
      ["GET", "/account", { ...CONSOLE, authorization: "Basic x" }],
    ];
    for (const [method, path, headers] of forgeries) {
      const body = method === "POST" && path === "/api-keys" ? '{"name":"stolen"}' : undefined;
      const response = await api.call(method, path, { ...asPage(cookie, headers), body });
      expect([method, path, headers, response.status, response.body.error.code]).toEqual([
        method,
        path,
        headers,
        401,
        "unauthenticated",
      ]);
    }
    expect((await api.call("GET", "/api-keys", asPage(cookie))).body.data).toEqual([]);
  });

  it("is accepted from an EventSource of the coordinator's own pages", async () => {
    const cookie = await signedIn();
    const accept = "text/event-stream";
    for (const headers of [{ accept }, { accept, "sec-fetch-site": "same-origin" }]) {
      expect((await api.call("GET", "/account", asPage(cookie, headers))).status).toBe(200);
    }
  });

  it("is not allowed to pages of other origins by the preflight response", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-headers": "atoll-console" };
    const response = await api.fetch("OPTIONS", "/account", { key: null, headers });
    expect(response.headers.get("access-control-allow-headers")).not.toMatch(/console/i);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });

  it("gets the usual error when the session has expired or the cookie is invalid", async () => {
    const cookie = await signedIn();
    for (const wrong of [
      "atoll_session=",
      `atoll_session=st_${"A".repeat(40)}`,
      `atoll_session=${api.key}`,
      "other=1",
    ]) {
      expect((await api.call("GET", "/account", asPage(wrong))).status).toBe(401);
    }
    expect((await api.call("GET", "/account", asPage(`a=1; ${cookie}; b=2`))).status).toBe(200);
    api.clock.advance(SESSION_MS);
    const { status, body } = await api.call("GET", "/account", asPage(cookie));
    expect([status, Object.keys(body), body.error.code]).toEqual([401, ["error"], "unauthenticated"]);
  });
});

describe("signing out", () => {
  it("ends the session and clears the cookie", async () => {
    const cookie = await signedIn();
    const { status, headers } = await api.call("POST", "/auth/logout", asPage(cookie));
    expect([status, headers.getSetCookie()]).toEqual([
      200,
      ["atoll_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict"],
    ]);
    expect((await api.call("GET", "/account", asPage(cookie))).status).toBe(401);
    const again = await api.call("POST", "/auth/logout", asPage(cookie));
    expect([again.status, again.headers.getSetCookie()]).toEqual([401, []]);
  });

  it("keeps a browser's cookie if it is done by token", async () => {
    const { body } = await sign("register", { email: newEmail(), password: PASSWORD });
    const { status, headers } = await api.call("POST", "/auth/logout", { key: body.data.token });
    expect([status, headers.getSetCookie()]).toEqual([200, []]);
  });
});

describe("limits", () => {
  it("counts requests of a session together, however it is sent", async () => {
    const cookie = await signedIn();
    const token = cookie.replace("atoll_session=", "");
    const leftOf = async (options: object) =>
      Number((await api.call("GET", "/account", options)).headers.get("x-ratelimit-remaining"));
    const first = await leftOf(asPage(cookie));
    expect([await leftOf({ key: token }), await leftOf(asPage(cookie))]).toEqual([first - 1, first - 2]);
  });

  it("counts an invalid cookie for the address, like a wrong token", async () => {
    await using strict = await Api.open({ publicRequestsPerMinute: 2 });
    const call = async () =>
      (await strict.call("GET", "/account", asPage(`atoll_session=st_${"A".repeat(40)}`))).status;
    const statuses = [];
    for (let i = 0; i < 12; i += 1) statuses.push(await call());
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });

  it("allows five sign-ins per minute and address, and slows down guessing", async () => {
    const email = newEmail();
    await sign("register", { email, password: PASSWORD }, from("192.0.2.9"));
    const login = async (password: string, address: string) =>
      sign("login", { email, password }, { ...CONSOLE, ...from(address) });
    const limits = new Set();
    // Each of several coordinators counts separately.
    for (let i = 0; i < 16; i += 1) limits.add((await login(PASSWORD, "192.0.2.9")).body.error?.limit);
    expect(limits).toEqual(new Set([undefined, "login_attempts"]));
    const guesses = [];
    for (let i = 0; i < 20; i += 1) guesses.push(await login("wrong password", `198.51.100.${i}`));
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(guesses.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
  });
});

describe("ending a session of the account", () => {
  it("clears the cookie only if it is the session of the request", async () => {
    const credentials = { email: newEmail(), password: PASSWORD };
    const cookie = await signedIn(credentials.email);
    const other = cookieOf(await sign("login", credentials, CONSOLE));
    const idOf = async (page: string) =>
      (await api.call("GET", "/sessions", asPage(page))).body.data.find(({ current }: { current: boolean }) => current)
        .id;
    const [id, otherId] = [await idOf(cookie), await idOf(other)];
    const ended = await api.call("DELETE", `/sessions/${otherId}`, asPage(cookie));
    expect([ended.status, ended.headers.getSetCookie()]).toEqual([200, []]);
    const own = await api.call("DELETE", `/sessions/${id}`, asPage(cookie));
    expect(own.headers.getSetCookie()).toEqual([expect.stringMatching(/^atoll_session=; Max-Age=0; /)]);
    expect((await api.call("GET", "/account", asPage(cookie))).status).toBe(401);
  });

  it("clears the cookie and ends the account's streams when the account is deleted", async () => {
    const cookie = await signedIn();
    const { id } = (await api.call("GET", "/account", asPage(cookie))).body.data;
    const page = await Listener.open(api.url, { headers: { cookie, ...CONSOLE } });
    const deleted = await api.call("DELETE", "/account", { ...asPage(cookie), body: { password: PASSWORD } });
    expect([deleted.status, deleted.body.data?.id]).toEqual([200, id]);
    expect(deleted.headers.getSetCookie()).toEqual([expect.stringMatching(/^atoll_session=; Max-Age=0; /)]);
    await page.over;
  });
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { Atoll, AuthenticationError } from "../../sdk/typescript/src/index.ts";
import { freePort } from "../support/free-port.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { fetchWithCookie } from "./cookie-jar.ts";

let coordinator: TestCoordinator;
beforeAll(async () => {
  coordinator = await TestCoordinator.open();
});
afterAll(() => coordinator[Symbol.asyncDispose]());

const CREDENTIALS = { email: "page@example.com", password: "long enough" };

it("a page signs in, works and signs out without access to its token", async () => {
  const { fetch, cookie } = fetchWithCookie();
  const page = new Atoll({ baseUrl: coordinator.url, session: "cookie", fetch });
  const begun = await page.auth.register(CREDENTIALS);
  expect(begun).not.toHaveProperty("token");
  expect(cookie()).toMatch(/^atoll_session=st_\w{40}$/);
  const { key } = await page.apiKeys.create({ name: "laptop" });
  expect((await new Atoll({ baseUrl: coordinator.url, apiKey: key }).account.get()).email).toBe(CREDENTIALS.email);
  await page.auth.signOut();
  expect(cookie()).toBe("");
  await expect(page.account.get()).rejects.toThrow(AuthenticationError);
  expect((await page.auth.signIn(CREDENTIALS)).account.email).toBe(CREDENTIALS.email);
  expect((await page.account.get()).email).toBe(CREDENTIALS.email);
});

it("a program that signs in gets its token", async () => {
  const program = new Atoll({ baseUrl: coordinator.url, apiKey: "" });
  const begun = await program.auth.signIn(CREDENTIALS);
  const signedIn = new Atoll({ baseUrl: coordinator.url, apiKey: begun.token });
  await signedIn.auth.signOut();
  await expect(signedIn.account.get()).rejects.toThrow(AuthenticationError);
});

it("a program without a key gets an error before any request, and can read public endpoints", async () => {
  const away = new Atoll({ baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey: "" });
  await expect(away.account.get()).rejects.toThrow("GET /account requires an API key. Pass apiKey");
  const program = new Atoll({ baseUrl: coordinator.url, apiKey: "" });
  expect((await program.health()).status).toBe("ok");
});

it("a program's own fetch may add the credential", async () => {
  const { token } = await new Atoll({ baseUrl: coordinator.url, apiKey: "" }).auth.signIn(CREDENTIALS);
  const program = new Atoll({
    baseUrl: coordinator.url,
    apiKey: "",
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${token}`);
      return fetch(input, { ...init, headers });
    },
  });
  expect((await program.account.get()).email).toBe(CREDENTIALS.email);
});

it("a connection error names the address and the reason", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const program = new Atoll({ baseUrl: url, apiKey: "ak_1", maxRetries: 0 });
  await expect(program.account.get()).rejects.toThrow(
    new RegExp(`^The connection to ${url}/api/v1 failed: .*ECONNREFUSED`),
  );
});

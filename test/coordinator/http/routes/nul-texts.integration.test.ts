import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSecret, newSecret } from "../../../../coordinator/accounts/secrets.ts";
import { currentDocument } from "../../../support/http/openapi.ts";
import { Api } from "../api.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: { type?: string } }[];
}

let api: Api;
let session = "";
beforeAll(async () => {
  api = await Api.open();
  session = newSecret("st");
  const times = { createdAtMs: api.clock.now(), expiresAtMs: api.clock.now() + 1_000_000 };
  await api.store.accounts.createSession({ tokenHash: hashSecret(session), accountId: api.accountId, ...times }, 5);
  await api.store.operators.setRole(api.accountId, "operator");
  await api.setLimits({ requestsPerMinute: 1_000 });
});
afterAll(() => api[Symbol.asyncDispose]());

/** PostgreSQL does not support NUL in text. */
describe("requests with a NUL character", () => {
  const operations = Object.entries(currentDocument().paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, { operationId, parameters = [] }]) => {
      const texts = parameters.filter(({ in: place, schema }) => place === "query" && schema.type === "string");
      return { operationId, method: method.toUpperCase(), path, names: texts.map(({ name }) => name) };
    }),
  );
  const withIds = operations.filter(({ path }) => path.startsWith("/api/v1") && path.includes("{"));
  const withTexts = operations.flatMap(({ names, path, ...rest }) =>
    path.startsWith("/api/v1") && !path.includes("{") && path !== "/api/v1/events"
      ? names.map((name) => ({ ...rest, path, name }))
      : [],
  );

  it.each(withIds)("return 404 if it is in an id: $operationId", async ({ method, path }) => {
    const { status, body } = await api.call(method, path.replaceAll(/\{.+?\}/g, "a%00b"), { key: session, base: "" });
    expect([status, body?.error?.code]).toEqual([404, "not_found"]);
  });

  it.each(withTexts)("return 422 and name the query parameter: $operationId $name", async ({ method, path, name }) => {
    const { status, body } = await api.call(method, `${path}?${name}=a%00b`, { key: session, base: "" });
    expect([status, body.error.details?.[0].path]).toEqual([422, name]);
  });

  it("return 401 if it is in the e-mail address of a sign-in", async () => {
    const body = { email: "a\u0000b@example.com", password: "long enough for all" };
    expect((await api.call("POST", "/auth/login", { key: null, body })).status).toBe(401);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { Api } from "../api.ts";

const EXPIRES_AT = "2026-01-01T01:00:00.000Z";
const UNTIL_EXPIRED_MS = 3_600_000;

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const create = (body: object, key = api.key) => api.call("POST", "/api-keys", { key, body });
const change = (id: string, body: object, key = api.key) => api.call("PATCH", `/api-keys/${id}`, { key, body });

describe("limits of an API key", () => {
  it("can be set when it is created, and are unset by default", async () => {
    const limits = { expires_at: EXPIRES_AT, cargos: ["tiny", "second", "tiny"], credits_per_month: 2.5 };
    const shown = { ...limits, cargos: ["tiny", "second"] };
    const made = await create(limits);
    expect([made.status, made.body.data]).toEqual([201, expect.objectContaining(shown)]);
    const none = { expires_at: null, cargos: null, credits_per_month: null };
    expect((await create({})).body.data).toMatchObject(none);
    const { data } = (await api.call("GET", "/api-keys")).body;
    expect(data.slice(0, 2)).toMatchObject([
      { ...none, credits_this_month: null },
      { ...shown, credits_this_month: 0 },
    ]);
  });

  it("can be changed one by one, as can the name, and are removed by null", async () => {
    const { id } = (await create({ cargos: ["tiny"], credits_per_month: 1 })).body;
    const changed = await change(id, { name: " Night ", cargos: null, expires_at: EXPIRES_AT });
    expect([changed.status, changed.body.data]).toEqual([
      200,
      expect.objectContaining({ id, name: "Night", cargos: null, credits_per_month: 1, expires_at: EXPIRES_AT }),
    ]);
    expect((await change(id, {})).body.data).toEqual(changed.body.data);
    expect((await change("key_none", {})).status).toBe(404);
    const other = await Api.open();
    expect((await other.call("PATCH", `/api-keys/${id}`, { body: {} })).status).toBe(404);
    await other[Symbol.asyncDispose]();
  });

  it.each([
    [{ expires_at: "2025-12-31T00:00:00.000Z" }, "expires_at"],
    [{ expires_at: "2126-01-01T00:00:00.000Z" }, "expires_at"],
    [{ expires_at: "tomorrow" }, "expires_at"],
    [{ cargos: [] }, "cargos"],
    [{ cargos: ["tiny", "tinny"] }, "cargos.1"],
    [{ credits_per_month: -1 }, "credits_per_month"],
    [{ credits_per_month: 0.0000001 }, "credits_per_month"],
  ])("return 422 at the field for %j", async (body, path) => {
    const { id } = (await create({})).body;
    for (const response of [await create(body), await change(id, body)]) {
      expect([response.status, response.body.error.details[0].path]).toEqual([422, path]);
    }
  });

  it("refuse an expired key with a code of its own, and count the request against its address", async () => {
    const { key, id } = (await create({ expires_at: EXPIRES_AT })).body;
    expect((await api.call("GET", "/account", { key })).status).toBe(200);
    api.clock.advance(UNTIL_EXPIRED_MS);
    const { status, headers, body } = await api.call("GET", "/account", { key });
    expect([status, body.error.code, headers.get("www-authenticate")]).toEqual([
      401,
      "key_expired",
      expect.stringMatching(/^Bearer/),
    ]);
    expect(headers.get("x-ratelimit-limit")).toBeNull();
    await change(id, { expires_at: null });
    expect((await api.call("GET", "/account", { key })).status).toBe(200);
  });

  it("cannot be evaded with another key, because a key with limits can neither create nor change keys", async () => {
    const { key, id } = (await create({ credits_per_month: 1 })).body;
    for (const response of [await create({}, key), await change(id, { credits_per_month: null }, key)]) {
      expect([response.status, response.body.error.code]).toEqual([403, "insufficient_scope"]);
    }
  });

  it("prevent the key from creating Island tokens and from revoking anything but itself", async () => {
    const { key, id } = (await create({ expires_at: EXPIRES_AT })).body;
    const other = (await create({})).body.id;
    const token = (await api.call("POST", "/island-tokens", { body: {} })).body.data.id;
    const tries = [
      ["POST", "/island-tokens"],
      ["POST", "/island-tokens/pairing"],
      ["DELETE", `/island-tokens/${token}`],
      ["DELETE", `/api-keys/${other}`],
    ] as const;
    for (const [method, path] of tries) {
      const { status, body } = await api.call(method, path, { key, body: {} });
      expect([path, status, body.error?.code]).toEqual([path, 403, "insufficient_scope"]);
    }
    expect((await api.call("DELETE", `/api-keys/${id}`, { key })).status).toBe(200);
  });

  it("apply to GET /models, where a key sees only the Cargos that it may run", async () => {
    const { key } = (await create({ cargos: ["second"] })).body;
    const { body } = await api.call("GET", "/models", { key });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(["second"]);
    expect((await api.call("GET", "/models/second", { key })).status).toBe(200);
    expect((await api.call("GET", "/models/tiny", { key })).status).toBe(404);
    expect((await api.call("GET", "/models/tiny")).status).toBe(200);
  });
});

describe("an open stream", () => {
  it(...unlessSeveral("ends when its key expires", "the scripted jobs are of one coordinator"), async () => {
    const { key, id } = (await create({ expires_at: EXPIRES_AT })).body;
    const identity = await api.accounts.authenticate(key);
    if (identity === undefined) throw new Error(`The key ${id} is not known`);
    expect(await api.accounts.isStillValid(identity)).toBe(true);
    api.clock.advance(UNTIL_EXPIRED_MS);
    expect(await api.accounts.isStillValid(identity)).toBe(false);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_ATTEMPTS_BY_ADDRESS, MAX_ATTEMPTS_BY_PREFIX } from "../../../../coordinator/accounts/island-tokens.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { Api } from "../api.ts";

const COUNTS_ITSELF = "each coordinator counts attempts separately";

let api: Api;
beforeEach(async () => {
  api = await Api.open({ trustProxy: true, publicRequestsPerMinute: 1_000 });
});
afterEach(() => api[Symbol.asyncDispose]());

const tokenPattern = expect.stringMatching(/^it_[0-9A-Za-z]{40}$/) as string;
const newCode = async (): Promise<string> =>
  (await api.call("POST", "/island-tokens/pairing", { body: { name: "attic" } })).body.data.code as string;
const pair = (code: unknown, address = "192.0.2.1") =>
  api.call("POST", "/island/pair", { key: null, body: { code }, headers: { "x-forwarded-for": address } });

describe("/island-tokens", () => {
  it("creates a token that is shown once, lists it, and revokes it with its sessions", async () => {
    const made = await api.call("POST", "/island-tokens", { body: { name: "garage" } });
    const { id } = made.body.data;
    const shown = { id, name: "garage", created_at: "2026-01-01T00:00:00.000Z", last_used_at: null };
    expect([made.status, made.body]).toEqual([201, { data: shown, token: tokenPattern }]);
    expect(await api.accounts.authenticateIsland(made.body.token as string)).toMatchObject({
      accountId: api.accountId,
    });
    await api.accounts.settled();
    const list = await api.call("GET", "/island-tokens");
    expect(list.body.data).toEqual([{ ...shown, last_used_at: "2026-01-01T00:00:00.000Z" }]);
    expect(list.text).not.toContain(made.body.token);
    const revoked = await api.call("DELETE", `/island-tokens/${id}`);
    expect([revoked.status, revoked.body, api.endedTokens]).toEqual([200, { data: { id, revoked: true } }, [id]]);
    expect((await api.call("GET", "/island-tokens")).body.data).toEqual([]);
    expect(await api.accounts.authenticateIsland(made.body.token as string)).toBeUndefined();
  });

  it("requires read to list and write to change, and shows only the caller's own", async () => {
    const [key, body] = [api.readKey, {}];
    const { id } = (await api.call("POST", "/island-tokens", { body })).body.data;
    const statuses = await Promise.all([
      api.call("GET", "/island-tokens", { key: api.writeKey }),
      api.call("POST", "/island-tokens", { key, body }),
      api.call("POST", "/island-tokens/pairing", { key, body }),
      api.call("DELETE", `/island-tokens/${id}`, { key }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    await using other = await Api.open();
    expect((await other.call("DELETE", `/island-tokens/${id}`)).status).toBe(404);
    expect((await other.call("GET", "/island-tokens")).body.data).toEqual([]);
    expect(api.endedTokens).toEqual([]);
  });

  it("refuses a name that is too long", async () => {
    const { status, body } = await api.call("POST", "/island-tokens", { body: { name: "x".repeat(101) } });
    expect([status, body.error.details]).toEqual([
      422,
      [{ path: "name", message: "must have at most 100 characters" }],
    ]);
  });
});

describe("pairing codes", () => {
  it("are exchanged for a token once, however they are typed", async () => {
    const made = await api.call("POST", "/island-tokens/pairing", { body: { name: "attic" } });
    const { code } = made.body.data;
    expect([made.status, made.body.data]).toEqual([
      201,
      {
        code: expect.stringMatching(/^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$/) as string,
        name: "attic",
        expires_at: "2026-01-01T00:10:00.000Z",
      },
    ]);
    const paired = await pair(` ${String(code).toLowerCase().replace("-", " ")}`);
    const [token] = await api.accounts.islandTokens.list(api.accountId);
    expect([paired.status, paired.body]).toEqual([
      201,
      { data: { id: token?.id, name: "attic", token: tokenPattern, account_id: api.accountId } },
    ]);
    expect(await api.accounts.authenticateIsland(paired.body.data.token as string)).toMatchObject({
      tokenId: token?.id,
    });
    const again = await pair(code);
    expect([again.status, again.body.error]).toEqual([
      404,
      { message: "The pairing code is wrong, used or older than ten minutes. Create a new one", code: "not_found" },
    ]);
  });

  it("are refused with the same error when they are wrong, expired or malformed", async () => {
    const code = await newCode();
    api.clock.advance(600_000);
    const answers = await Promise.all([pair(code), pair("AAAA-AAAA"), pair("0OI1-0OI1"), pair("")]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  it("are limited to 5 at a time", async () => {
    for (let made = 0; made < 5; made += 1) await newCode();
    const { status, body } = await api.call("POST", "/island-tokens/pairing", { body: {} });
    expect([status, body.error.code]).toEqual([422, "too_many_codes"]);
  });

  it(...unlessSeveral("allow 10 attempts a minute for one address", COUNTS_ITSELF), async () => {
    const code = await newCode();
    for (let tries = 0; tries < MAX_ATTEMPTS_BY_ADDRESS; tries += 1) await pair(`AA${(tries % 8) + 2}A-AAAA`);
    const refused = await pair(code);
    expect([refused.status, refused.body.error.limit, refused.headers.get("retry-after")]).toEqual([
      429,
      "pairing_attempts",
      "60",
    ]);
    expect((await pair(code, "192.0.2.2")).status).toBe(201);
  });

  it("are exchanged while other addresses send a thousand wrong codes", async () => {
    const { islandTokens } = api.accounts;
    const code = await newCode();
    const first = code.startsWith("Z") ? "Y" : "Z";
    const guesses = Array.from({ length: 1_000 }, (_, n) => {
      const next = [n >> 4, n].map((digit) => "23456789ABCDEFGH"[digit & 15]).join("");
      return islandTokens.redeem(`${first}${next}AAAAA`, `address ${n}`);
    });
    const results = await Promise.allSettled(guesses);
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    expect((await pair(code)).status).toBe(201);
  });

  it(
    ...unlessSeveral("allow 5 attempts a minute for codes with the same first three characters", COUNTS_ITSELF),
    async () => {
      const { islandTokens } = api.accounts;
      const code = await newCode();
      const wrong = `${code.slice(0, 3)}${code.endsWith("AAAAA") ? "BBBBB" : "AAAAA"}`;
      for (let tries = 0; tries < MAX_ATTEMPTS_BY_PREFIX; tries += 1)
        await expect(islandTokens.redeem(wrong, `address ${tries}`)).rejects.toMatchObject({ code: "not_found" });
      const refused = await pair(code);
      expect([refused.status, refused.body.error.limit, refused.headers.get("retry-after")]).toEqual([
        429,
        "pairing_attempts",
        "60",
      ]);
      expect((await pair(await newCode(), "192.0.2.2")).status).toBe(201);
      api.clock.advance(60_000);
      expect((await pair(code)).status).toBe(201);
    },
  );
});

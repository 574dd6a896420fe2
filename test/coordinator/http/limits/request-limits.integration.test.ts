import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { networkOf } from "../../../../coordinator/http/server/client-address.ts";
import { Api } from "../api.ts";
import { DONE, makeJob } from "../scripted-jobs.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const NOW_S = 1_767_225_600;
const rateOf = (headers: Headers) =>
  ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`)).map((text) => text && Number(text));
const streamOf = (jobId = "job_1", key = api.key) => api.fetch("GET", `/jobs/${jobId}/stream`, { key });

async function loginSession(): Promise<string> {
  const email = `${api.accountId}-second@example.com`;
  const body = { email, password: "correct horse" };
  return (await api.call("POST", "/auth/register", { key: null, body })).body.data.token as string;
}

describe("requests per minute", () => {
  it("report the remaining requests in every authenticated response, even a refusal", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId }), undefined).end(DONE);
    expect(rateOf((await api.call("GET", "/jobs")).headers)).toEqual([100, 99, NOW_S + 60]);
    api.clock.advance(1_000);
    const refused = await api.call("GET", "/jobs/job_none");
    expect([refused.status, ...rateOf(refused.headers)]).toEqual([404, 100, 98, NOW_S + 60]);
    const stream = await streamOf();
    expect([await stream.text(), ...rateOf(stream.headers)]).toEqual([expect.any(String), 100, 97, NOW_S + 60]);
    const wrong = await api.call("POST", "/jobs", { body: "{" });
    expect([wrong.status, ...rateOf(wrong.headers)]).toEqual([400, 100, 96, NOW_S + 60]);
  });

  it("refuse the 101st request within a minute with 429 and the spec's body, and accept it after Retry-After", async () => {
    for (let i = 0; i < 100; i += 1) {
      expect((await api.call("GET", "/account")).status).toBe(200);
      api.clock.advance(100);
    }
    const { status, headers, body } = await api.call("GET", "/account");
    expect([status, headers.get("retry-after"), ...rateOf(headers)]).toEqual([429, "50", 100, 0, NOW_S + 60]);
    expect(body).toEqual({
      error: { message: expect.any(String), code: "rate_limited", retry_after: 50, limit: "requests_per_minute" },
    });
    api.clock.advance(50_000);
    expect((await api.call("GET", "/account")).status).toBe(200);
    expect((await api.call("GET", "/account")).status).toBe(429);
  });

  it("are counted separately for each key and each session", async () => {
    await api.setLimits({ requestsPerMinute: 1 });
    expect((await api.call("GET", "/account")).status).toBe(200);
    expect((await api.call("GET", "/account")).status).toBe(429);
    expect((await api.call("GET", "/account", { key: api.readKey })).status).toBe(200);
    const session = await loginSession();
    expect(rateOf((await api.call("GET", "/account", { key: session })).headers)).toEqual([100, 99, NOW_S + 60]);
  });

  it("include those of a key without the scope", async () => {
    await api.setLimits({ requestsPerMinute: 1 });
    expect((await api.call("POST", "/jobs", { key: api.readKey, body: {} })).status).toBe(403);
    expect((await api.call("POST", "/jobs", { key: api.readKey, body: {} })).status).toBe(429);
  });

  it("follow a change of the account's limit at once", async () => {
    await api.setLimits({ requestsPerMinute: 1 });
    expect((await api.call("GET", "/account")).status).toBe(200);
    expect((await api.call("GET", "/account")).status).toBe(429);
    await api.setLimits({ requestsPerMinute: 3 });
    expect(rateOf((await api.call("GET", "/account")).headers)).toEqual([3, 1, NOW_S + 60]);
    await api.setLimits({ requestsPerMinute: null });
    expect(rateOf((await api.call("GET", "/account")).headers)).toEqual([100, 97, NOW_S + 60]);
  });
});

describe("requests without a key", () => {
  const anonymous = (path: string, from?: string, base?: string) =>
    api.call("GET", path, {
      key: null,
      headers: from === undefined ? {} : { "x-forwarded-for": from },
      ...(base === undefined ? {} : { base }),
    });

  it(
    ...unlessSeveral("are 429 above the limit of their address, at any path", "each counts addresses separately"),
    async () => {
      await using few = await Api.open({ publicRequestsPerMinute: 7 });
      const paths: readonly (readonly [status: number, path: string, key?: string | undefined, base?: string])[] = [
        [200, "/health"],
        [200, "/cargos"],
        [401, "/jobs"],
        [401, "/jobs", "ak_wrong"],
        [404, "/nothing"],
        [200, "/openapi.json"],
        [404, "/models/none.gguf", undefined, ""],
      ];
      for (const [status, path, key = null, base = "/api/v1"] of paths) {
        expect([path, (await few.call("GET", path, { key, base })).status]).toEqual([path, status]);
      }
      for (const [, path, key = null, base = "/api/v1"] of paths) {
        const { status, headers, body } = await few.call("GET", path, { key, base });
        expect([path, status, headers.get("retry-after"), body.error.limit]).toEqual([
          path,
          429,
          "60",
          "requests_per_minute",
        ]);
      }
      expect((await few.call("PUT", "/jobs", { key: null })).status).toBe(429);
      expect((await few.call("GET", "/account")).status).toBe(200);
      few.clock.advance(60_000);
      expect((await few.call("GET", "/health", { key: null })).status).toBe(200);
    },
  );

  it(
    ...unlessSeveral(
      "are counted by the address from a trusted proxy, for IPv6 by its network",
      "each counts addresses separately",
    ),
    async () => {
      await api[Symbol.asyncDispose]();
      api = await Api.open({ publicRequestsPerMinute: 1, trustProxy: true });
      const statuses = [];
      for (const from of [
        "192.0.2.1",
        "192.0.2.1",
        "x, 192.0.2.2",
        "2001:db8::1",
        "2001:db8:0:0:9::2",
        "2001:db8:0:1::1",
      ]) {
        statuses.push((await anonymous("/health", from)).status);
      }
      expect(statuses).toEqual([200, 429, 200, 200, 429, 200]);
    },
  );

  it(
    ...unlessSeveral(
      "are counted without the port that some proxies append, and by the proxy if it sends no address",
      "each counts addresses separately",
    ),
    async () => {
      await api[Symbol.asyncDispose]();
      api = await Api.open({ publicRequestsPerMinute: 1, trustProxy: true });
      const statuses = [];
      for (const from of [
        "192.0.2.1:50001",
        "192.0.2.1:50002",
        "192.0.2.1",
        "[2001:db8::1]:50001",
        "[2001:db8::2]:50002",
        "2001:db8::3",
        "unknown",
        "_hidden",
        "192.0.2.1.evil:1",
        undefined,
      ]) {
        statuses.push((await anonymous("/health", from)).status);
      }
      expect(statuses).toEqual([200, 429, 429, 200, 429, 429, 200, 429, 429, 429]);
    },
  );

  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::1", "0:0:0:0::/64"],
    ["2001:DB8::", "2001:db8:0:0::/64"],
    ["2001:0db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["1::2:3:4:5:6:7", "1:0:2:3::/64"],
    ["unknown", "unknown"],
  ])("networkOf(%s) is %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

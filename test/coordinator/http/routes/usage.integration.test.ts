import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApiKey } from "../../../../coordinator/store/accounts/credentials.ts";
import { DAY_MS } from "../../../../coordinator/store/ledger/host-metrics.ts";
import { newId } from "../../../../shared/ids.ts";
import { makeEnding, makeJob, runJob } from "../../store/contract/store-builders.ts";
import { Api } from "../api.ts";

let api: Api;
let one: ApiKey;
let two: ApiKey;
beforeEach(async () => {
  api = await Api.open();
  [one, two] = [await makeKey(), await makeKey()];
});
afterEach(() => api[Symbol.asyncDispose]());

const makeKey = async (): Promise<ApiKey> => (await api.accounts.createKey(api.accountId)).key;
const read = (query = "") => api.call("GET", `/account/usage${query}`);

/** A job of the account that ended so many days ago. */
async function endJob(chargeMicro: number, days: number, key: ApiKey | null = null, slug = "tiny"): Promise<void> {
  const nowMs = api.clock.now();
  const apiKey = key && { number: key.number, monthly: null };
  const job = makeJob(api.accountId, { id: newId("job", nowMs), slug, apiKey });
  await runJob(api.store, job);
  await api.store.jobs.end(makeEnding(job, { chargeMicro, atMs: nowMs - days * DAY_MS }));
}

describe("GET /account/usage", () => {
  it("has a line for each day, Cargo and key of the last 30 days", async () => {
    await endJob(250_000, 0, one);
    await endJob(500_000, 0, one);
    await endJob(1, 29);
    await endJob(2, 30);
    const { status, body } = await read();
    const line = { kind: "spent", workload_slug: "tiny", prompt_tokens: 3, completion_tokens: 2 };
    const double = { prompt_tokens: 6, completion_tokens: 4 };
    expect([status, body]).toEqual([
      200,
      {
        data: [
          { ...line, ...double, day: "2026-01-01", api_key_id: one.id, jobs: 2, credits: 0.75 },
          { ...line, day: "2025-12-03", api_key_id: null, jobs: 1, credits: 0.000001 },
        ],
        meta: { total: 2, limit: 100, offset: 0, from: "2025-12-03", to: "2026-01-01", spent: 0.750001, earned: 0 },
      },
    ]);
  });

  it("takes days, filters, groups and pages", async () => {
    await endJob(1_000, 3, one);
    await endJob(2_000, 3, two, "second");
    await endJob(4_000, 4, one);
    const days = "?from=2025-12-28&to=2025-12-29";
    expect((await read("?to=2025-12-28")).body.meta).toMatchObject({ from: "2025-11-29", total: 1, spent: 0.004 });
    expect((await read(`${days}&by=day`)).body.data).toMatchObject([
      { day: "2025-12-29", workload_slug: null, api_key_id: null, jobs: 2, credits: 0.003 },
      { day: "2025-12-28", jobs: 1, credits: 0.004 },
    ]);
    expect((await read(`${days}&by=`)).body.data).toMatchObject([{ day: null, jobs: 3, credits: 0.007 }]);
    expect((await read(`${days}&workload=second`)).body.data).toMatchObject([{ api_key_id: two.id }]);
    expect((await read(`${days}&api_key=${one.id}&by=workload`)).body.data).toMatchObject([{ credits: 0.005 }]);
    expect((await read(`${days}&kind=earned`)).body.data).toEqual([]);
    const page = await read(`${days}&limit=1&offset=1`);
    expect([page.body.data.length, page.body.meta]).toMatchObject([1, { total: 3, spent: 0.007 }]);
  });

  it.each([
    ["?from=2026-01-02&to=2026-01-01", "to"],
    ["?from=2024-12-31&to=2026-01-01", "from"],
    ["?from=yesterday", "from"],
    ["?by=hour", "by"],
    ["?limit=101", "limit"],
  ])("%s is 422", async (query, path) => {
    const { status, body } = await read(query);
    expect([status, body.error.details[0].path]).toEqual([422, path]);
  });
});

import { expect } from "vitest";
import { DAY_MS, utcDayOf } from "../../../../coordinator/store/ledger/host-metrics.ts";
import type { NewJob } from "../../../../coordinator/store/jobs/job-store.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { USAGE_GROUPS, type UsageFilter, type UsageGroup } from "../../../../coordinator/store/ledger/usage.ts";
import { type Check, MADE_AT_MS, makeAccount, makeEnding, makeJob, makeKey, runJob } from "./store-builders.ts";

const DAY = utcDayOf(MADE_AT_MS);
const RANGE = { fromDay: DAY, toDay: DAY + 1 } as const;
const PAGE = { limit: 100, offset: 0 } as const;

interface Ended {
  /** Number of the job's key. */
  readonly key?: number;
  readonly slug?: string;
  readonly chargeMicro?: number;
  readonly atMs?: number;
  readonly earning?: { readonly accountId: string; readonly micro: number };
}

/** Runs a job of 1 credit with this outcome. */
async function endJob(
  store: Store,
  accountId: string,
  { key: number, slug = "tiny-chat", ...ended }: Ended,
): Promise<void> {
  const apiKey: NewJob["apiKey"] = number === undefined ? null : { number, monthly: null };
  const job = makeJob(accountId, { slug, apiKey });
  await runJob(store, job);
  await store.jobs.end(makeEnding(job, { atMs: MADE_AT_MS, ...ended }));
}

async function usageOf(
  store: Store,
  accountId: string,
  filter: Partial<UsageFilter> = {},
  groups: readonly UsageGroup[] = USAGE_GROUPS,
): Promise<unknown[]> {
  const { lines } = await store.usage.read(accountId, { ...RANGE, ...filter }, groups, PAGE);
  return lines.map(({ kind, day, slug, keyId, micro, jobs }) =>
    [kind, day === null ? null : day - DAY, slug, keyId, micro, jobs].join(" "),
  );
}

async function sumUpAll(store: Store): Promise<void> {
  // PostgreSQL first waits until earlier writes are final.
  for (let round = 0; round < 3; round += 1) while (await store.usage.sumUp(100));
}

export function describeUsage(check: Check): void {
  check(
    "usage.read() matches the ledger by day, Cargo, key and kind, before, during and after aggregation",
    async (store) => {
      const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
      const [one, two] = [await makeKey(store, ann, "key_1"), await makeKey(store, ann, "key_2")];
      const earning = { accountId: bob, micro: 900 };
      await endJob(store, ann, { key: one, chargeMicro: 1_000, earning });
      await endJob(store, ann, { key: one, chargeMicro: 2_000 });
      await endJob(store, ann, { key: two, chargeMicro: 10 });
      await endJob(store, ann, { slug: "hash", chargeMicro: 5 });
      await endJob(store, ann, { key: one, chargeMicro: 7, atMs: MADE_AT_MS + DAY_MS });
      await endJob(store, ann, { key: one, chargeMicro: 0 });
      await endJob(store, ann, { chargeMicro: 3, atMs: MADE_AT_MS + 2 * DAY_MS });
      const expected = [
        "spent 1 tiny-chat key_1 7 1",
        "spent 0 hash  5 1",
        "spent 0 tiny-chat key_1 3000 2",
        "spent 0 tiny-chat key_2 10 1",
      ];
      expect(await usageOf(store, ann)).toEqual(expected);
      for (let step = 0; step < 60; step += 1) {
        await store.usage.sumUp(2);
        expect(await usageOf(store, ann)).toEqual(expected);
      }
      await sumUpAll(store);
      await endJob(store, ann, { key: two, chargeMicro: 90 });
      expect(await usageOf(store, ann, { keyId: "key_2" })).toEqual(["spent 0 tiny-chat key_2 100 2"]);
      // Jobs of another account are not included.
      expect(await usageOf(store, bob)).toEqual(["earned 0 tiny-chat  900 1"]);
      const { total, spentMicro, earnedMicro, lines } = await store.usage.read(bob, RANGE, USAGE_GROUPS, PAGE);
      expect([total, spentMicro, earnedMicro]).toEqual([1, 0, 900]);
      expect(lines[0]).toMatchObject({ promptTokens: 3, completionTokens: 2 });
    },
  );

  check("usage.read() groups, filters and pages lines, with the sums of all pages", async (store) => {
    const ann = await makeAccount(store);
    const one = await makeKey(store, ann, "key_1");
    await endJob(store, ann, { key: one, chargeMicro: 1 });
    await endJob(store, ann, { slug: "hash", chargeMicro: 2 });
    await sumUpAll(store);
    await endJob(store, ann, { key: one, chargeMicro: 4, atMs: MADE_AT_MS + DAY_MS });
    await endJob(store, ann, { slug: "hash", chargeMicro: 8, earning: { accountId: ann, micro: 6 } });
    expect(await usageOf(store, ann, {}, ["day"])).toEqual(["spent 1   4 1", "earned 0   6 1", "spent 0   11 3"]);
    expect(await usageOf(store, ann, {}, ["cargo"])).toEqual([
      "earned  hash  6 1",
      "spent  hash  10 2",
      "spent  tiny-chat  5 2",
    ]);
    expect(await usageOf(store, ann, {}, [])).toEqual(["earned    6 1", "spent    15 4"]);
    expect(await usageOf(store, ann, { kind: "spent", slug: "hash" }, ["key"])).toEqual(["spent    10 2"]);
    expect(await usageOf(store, ann, { fromDay: DAY + 1 }, [])).toEqual(["spent    4 1"]);
    const page = await store.usage.read(ann, RANGE, ["day"], { limit: 1, offset: 1 });
    expect(page).toMatchObject({ total: 3, spentMicro: 15, earnedMicro: 6, lines: [{ kind: "earned", micro: 6 }] });
  });

  check("usage.forgetDays() deletes older sums, up to the limit", async (store) => {
    const ann = await makeAccount(store);
    for (const id of ["key_1", "key_2"]) {
      await endJob(store, ann, { key: await makeKey(store, ann, id), chargeMicro: 1 });
    }
    await endJob(store, ann, { chargeMicro: 2, atMs: MADE_AT_MS + DAY_MS });
    await sumUpAll(store);
    expect(await store.usage.forgetDays(DAY + 1, 1)).toBe(1);
    expect(await store.usage.forgetDays(DAY + 1, 9)).toBe(1);
    expect(await usageOf(store, ann)).toEqual(["spent 1 tiny-chat  2 1"]);
  });
}

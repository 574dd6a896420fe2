import { expect } from "vitest";
import { NO_COUNTS, utcDayOf } from "../../../../coordinator/store/ledger/host-metrics.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { type Check, ISLAND_ID, MADE_AT_MS, makeAccount, makeEnding, makeJob, runJob } from "./store-builders.ts";

const DAY = utcDayOf(MADE_AT_MS);

/** Runs a job of 1 credit that ends on the Island and earns the given amount for its owner. */
async function earn(store: Store, ownerId: string, micro: number, atMs = MADE_AT_MS): Promise<void> {
  const job = makeJob(await makeAccount(store));
  await runJob(store, job);
  await store.jobs.end(makeEnding(job, { earning: { accountId: ownerId, micro }, atMs }));
}

async function earnedBy(
  store: Store,
  accountId: string,
  hostId: string | null = null,
  fromDay = DAY,
): Promise<unknown> {
  const sums = new Map<string, number>();
  for (const row of await store.hostMetrics.earnings(accountId, hostId, fromDay)) {
    const key = `${row.hostId} ${row.day - DAY}`;
    sums.set(key, (sums.get(key) ?? 0) + row.micro);
  }
  return Object.fromEntries(sums);
}

export function describeHostFigures(check: Check): void {
  check("hostMetrics.addCounts() adds the counts to the day of an Island", async (store) => {
    const { hostMetrics } = store;
    const row = { accountId: "user_1", hostId: "a", day: DAY, ...NO_COUNTS };
    await hostMetrics.addCounts([{ ...row, onlineMs: 5, completed: 1, tokens: 7 }]);
    await hostMetrics.addCounts([
      { ...row, onlineMs: 6, failed: 2, retried: 1 },
      { ...row, day: DAY + 1, cancelled: 3, timedOut: 4 },
      { ...row, hostId: "b", onlineMs: 9 },
      { ...row, accountId: "user_2", onlineMs: 9 },
    ]);
    const counts = await hostMetrics.counts("user_1", "a", DAY);
    expect(counts.toSorted((a, b) => a.day - b.day)).toEqual([
      { ...row, onlineMs: 11, completed: 1, tokens: 7, failed: 2, retried: 1 },
      { ...row, day: DAY + 1, cancelled: 3, timedOut: 4 },
    ]);
    expect(await hostMetrics.counts("user_1", null, DAY + 1)).toHaveLength(1);
    expect(await hostMetrics.counts("user_1", null, DAY)).toHaveLength(3);
  });

  check("hostMetrics.forgetDays() deletes older days, up to the limit", async ({ hostMetrics }) => {
    const row = { accountId: "user_1", hostId: "a", ...NO_COUNTS };
    await hostMetrics.addCounts([DAY - 2, DAY - 1, DAY].map((day) => ({ ...row, day })));
    expect(await hostMetrics.forgetDays(DAY, 1)).toBe(1);
    expect(await hostMetrics.forgetDays(DAY, 10)).toBe(1);
    expect((await hostMetrics.counts("user_1", null, 0)).map(({ day }) => day)).toEqual([DAY]);
  });

  check("hostMetrics.earnings() match the ledger before, during and after aggregation", async (store) => {
    const [ownerId, otherId] = [await makeAccount(store), await makeAccount(store)];
    await earn(store, ownerId, 900_000);
    await earn(store, ownerId, 90_000, MADE_AT_MS + 86_400_000);
    await earn(store, otherId, 5);
    const expected = { [`${ISLAND_ID} 0`]: 900_000, [`${ISLAND_ID} 1`]: 90_000 };
    expect(await earnedBy(store, ownerId)).toEqual(expected);
    // Aggregates one entry at a time. PostgreSQL first waits until earlier writes are final.
    for (let step = 0; step < 60; step += 1) {
      await store.hostMetrics.sumUpEarnings(1);
      expect(await earnedBy(store, ownerId)).toEqual(expected);
    }
    await earn(store, ownerId, 1);
    expect(await earnedBy(store, ownerId, ISLAND_ID)).toEqual({ ...expected, [`${ISLAND_ID} 0`]: 900_001 });
    while (await store.hostMetrics.sumUpEarnings(100));
    expect(await earnedBy(store, ownerId, ISLAND_ID, DAY + 1)).toEqual({ [`${ISLAND_ID} 1`]: 90_000 });
    expect(await earnedBy(store, ownerId, "another")).toEqual({});
    expect(await earnedBy(store, otherId)).toEqual({ [`${ISLAND_ID} 0`]: 5 });
    const { lines } = await store.ledger.list(ownerId, { limit: 100, offset: 0 });
    const earnings = lines.filter(({ kind }) => kind === "earning").map(({ micro }) => micro);
    expect(earnings.reduce((sum, micro) => sum + micro, 0)).toBe(990_001);
  });

  check("hostMetrics.recentEarnings() returns the earnings of the Island, newest first", async (store) => {
    const ownerId = await makeAccount(store);
    for (const micro of [1, 2, 3]) await earn(store, ownerId, micro, MADE_AT_MS + micro);
    const recent = await store.hostMetrics.recentEarnings(ownerId, ISLAND_ID, 2);
    expect(recent.map(({ micro, atMs }) => [micro, atMs - MADE_AT_MS])).toEqual([
      [3, 3],
      [2, 2],
    ]);
    expect((await store.jobs.get(recent[0]?.jobId ?? ""))?.islandId).toBe(ISLAND_ID);
    expect(await store.hostMetrics.recentEarnings(ownerId, "another", 2)).toEqual([]);
  });
}

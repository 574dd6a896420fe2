import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { QuotaSlots } from "../../../../coordinator/store/cluster-store.ts";
import type { BatchStore } from "../../../../coordinator/store/jobs/batches.ts";
import { openSqliteStore, type SqliteStore } from "../../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { makeAccount, temporaryFolder } from "../../store/contract/store-builders.ts";
import { withReplaced } from "../held-store.ts";
import { JobWorld } from "../job-world.ts";
import { inputTexts } from "../../../support/input-texts.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let clock: ManualClock;
let world: JobWorld;
let accountId: string;
/** Quota slots that the store has left for the account. */
let free: number;
/** Slot limit of each stored batch. */
let limits: (number | null)[];
let asked: number;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  [free, limits, asked] = [3, [], 0];
  const take = (wanted: number): number => {
    const taken = Math.min(wanted, free);
    free -= taken;
    return taken;
  };
  const submitCounted: BatchStore["submit"] = async (batch) => {
    limits.push(batch.slotLimit);
    const outcome = await store.batches.submit(batch);
    return { ...outcome, admitted: batch.slotLimit === null ? 0 : take(batch.jobs.length) };
  };
  const quotaSlots: QuotaSlots = {
    async take(_accountId, jobIds) {
      asked += 1;
      return jobIds.slice(0, take(jobIds.length));
    },
  };
  world = new JobWorld(withReplaced(store, { batches: { submit: submitCounted }, cluster: { quotaSlots } }), clock);
});
afterEach(async () => {
  await world.settle();
  expect(world.fatal).toEqual([]);
  world.close();
  await store.close();
  folder[Symbol.dispose]();
});

async function submit(count: number): Promise<string[]> {
  const inputs = inputTexts(Array.from({ length: count }, () => ({ prompt: "Hi" })));
  const request = { accountId, slug: "cheap", priority: 0, idempotency: null, failMode: "best_effort" } as const;
  const { jobs } = await world.batches.submit({ ...request, inputs });
  return jobs.map(({ id }) => id);
}
const competing = (ids: readonly string[]) => ids.map((id) => world.registry.get(id)?.holdsQuota);

describe("a batch in a store that grants quota slots", () => {
  it("competes at once if all its jobs have a slot, without a request for more", async () => {
    expect(competing(await submit(3))).toEqual([true, true, true]);
    await world.settle();
    expect([limits, asked, world.core.gate.waitingOf(accountId)]).toEqual([[10], 0, 0]);
  });

  it("competes with its first jobs, and the others wait", async () => {
    const ids = await submit(5);
    expect(competing(ids)).toEqual([true, true, true, false, false]);
    expect(world.core.gate.waitingOf(accountId)).toBe(2);
    await world.settle();
    free = 1;
    clock.advance(1_000);
    await world.settle();
    expect(competing(ids)).toEqual([true, true, true, true, false]);
  });

  it("does not overtake waiting jobs of the account", async () => {
    const first = await submit(4);
    await world.settle();
    free = 2;
    const second = await submit(2);
    expect(limits).toEqual([10, null]);
    await world.settle();
    expect([competing(first), competing(second)]).toEqual([
      [true, true, true, true],
      [true, false],
    ]);
  });
});

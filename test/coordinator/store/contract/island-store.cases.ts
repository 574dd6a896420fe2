import { expect } from "vitest";
import { MAX_HOSTS, type IslandRecord } from "../../../../coordinator/store/island-store.ts";
import { type Check, ISLAND_ID, MADE_AT_MS, makeAccount } from "./store-builders.ts";

function makeIsland(accountId: string, override: Partial<IslandRecord> = {}): IslandRecord {
  return {
    hostId: ISLAND_ID,
    accountId,
    agentVersion: "0.1.0",
    hardware: {
      platform: "linux",
      arch: "x64",
      osName: null,
      cpuModel: "A CPU",
      logicalCores: 8,
      physicalCores: null,
      ramBytes: 16 * 2 ** 30,
      gpus: [],
      diskFreeBytes: null,
      diskBudgetBytes: 10 * 2 ** 30,
    },
    runtimes: [{ type: "llmcpp", version: "3.22.1" }],
    lastSeenAtMs: MADE_AT_MS,
    ...override,
  };
}

export function describeIslands(check: Check): void {
  check("islands.save() creates, then updates", async (store) => {
    const accountId = await makeAccount(store);
    expect(await store.islands.save(makeIsland(accountId))).toBe(true);
    const later = makeIsland(accountId, { agentVersion: "0.2.0", runtimes: [], lastSeenAtMs: MADE_AT_MS + 1 });
    expect(await store.islands.save(later)).toBe(true);
    expect(await store.islands.get(ISLAND_ID)).toEqual(later);
  });

  check("islands.save() of another account's host id is false and changes nothing", async (store) => {
    const first = makeIsland(await makeAccount(store));
    await store.islands.save(first);
    expect(await store.islands.save(makeIsland(await makeAccount(store), { agentVersion: "9" }))).toBe(false);
    expect(await store.islands.get(ISLAND_ID)).toEqual(first);
  });

  check("islands.hasAny() is true from the first Island on", async (store) => {
    const accountId = await makeAccount(store);
    expect(await store.islands.hasAny()).toBe(false);
    await store.islands.save(makeIsland(accountId));
    expect(await store.islands.hasAny()).toBe(true);
  });

  check(
    "islands.forgetUnseen() forgets those not seen since then, some at a time; touch() says that one was",
    async (store) => {
      const accountId = await makeAccount(store);
      const ids = [1, 2, 3].map((last) => `7e2f1a50-0000-4000-8000-00000000000${last}`);
      for (const hostId of ids) await store.islands.save(makeIsland(accountId, { hostId }));
      await store.islands.touch([ids[1] as string, "unknown"], MADE_AT_MS + 10);
      await store.islands.touch([ids[1] as string], MADE_AT_MS + 5);
      expect((await store.islands.get(ids[1] as string))?.lastSeenAtMs).toBe(MADE_AT_MS + 10);
      expect(await store.islands.forgetUnseen(MADE_AT_MS - 1, 10)).toBe(0);
      expect(await store.islands.forgetUnseen(MADE_AT_MS, 1)).toBe(1);
      expect(await store.islands.forgetUnseen(MADE_AT_MS + 9, 10)).toBe(1);
      expect((await store.islands.get(ids[1] as string))?.hostId).toBe(ids[1]);
    },
  );
  check("islands.save() keeps 1,000 hosts of an account and forgets the one unseen for longest", async (store) => {
    const [accountId, otherId] = [await makeAccount(store), await makeAccount(store)];
    const hostIds = Array.from({ length: MAX_HOSTS + 2 }, (_, index) => `host-${index}`);
    const ofAnother = makeIsland(otherId, { hostId: "other", lastSeenAtMs: 0 });
    await store.islands.save(ofAnother);
    const save = (hostId: string, index: number) =>
      store.islands.save(makeIsland(accountId, { hostId, lastSeenAtMs: MADE_AT_MS + index }));
    await Promise.all(hostIds.slice(0, MAX_HOSTS).map(save));
    // The first is seen again, later than the second and the third.
    for (const hostId of ["host-0", ...hostIds.slice(MAX_HOSTS)]) await save(hostId, MAX_HOSTS);
    const found = await Promise.all(hostIds.map((hostId) => store.islands.get(hostId)));
    expect(hostIds.filter((_, index) => found[index] === undefined)).toEqual(["host-1", "host-2"]);
    expect(await store.islands.get("other")).toEqual(ofAnother);
  });

  check("islands.get() of an unknown host is undefined", async (store) => {
    expect(await store.islands.get(ISLAND_ID)).toBeUndefined();
  });
}

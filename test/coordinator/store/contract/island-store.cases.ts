import { expect } from "vitest";
import { MAX_HOSTS, type IslandRecord, type IslandReport } from "../../../../coordinator/store/islands.ts";
import { type Check, ISLAND_ID, MADE_AT_MS, makeAccount } from "./store-builders.ts";

function makeIsland(accountId: string, override: Partial<IslandReport> = {}): IslandReport {
  return {
    hostId: ISLAND_ID,
    accountId,
    agentVersion: "0.1.0",
    hostName: "garage",
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

/** A record that its owner has not changed. */
const recordOf = (report: IslandReport, firstSeenAtMs = MADE_AT_MS): IslandRecord => ({
  ...report,
  name: null,
  firstSeenAtMs,
});

const TOKEN_AT_MS = MADE_AT_MS - 1;
const REMOVED_AT_MS = MADE_AT_MS + 10;

export function describeIslands(check: Check): void {
  check("islands.save() creates a record, then updates it", async (store) => {
    const accountId = await makeAccount(store);
    expect(await store.islands.save(makeIsland(accountId), TOKEN_AT_MS)).toBe("saved");
    const later = makeIsland(accountId, { agentVersion: "0.2.0", runtimes: [], lastSeenAtMs: MADE_AT_MS + 1 });
    expect(await store.islands.save(later, TOKEN_AT_MS)).toBe("saved");
    expect(await store.islands.get(ISLAND_ID)).toEqual(recordOf(later));
  });

  check("islands.save() with another account's host id changes nothing", async (store) => {
    const first = makeIsland(await makeAccount(store));
    await store.islands.save(first, TOKEN_AT_MS);
    const other = makeIsland(await makeAccount(store), { agentVersion: "9" });
    expect(await store.islands.save(other, REMOVED_AT_MS)).toBe("of_another");
    expect(await store.islands.get(ISLAND_ID)).toEqual(recordOf(first));
  });

  check("islands.saveCurves() stores speeds, which reports keep and a removal deletes", async (store) => {
    const accountId = await makeAccount(store);
    await store.islands.save(makeIsland(accountId), TOKEN_AT_MS);
    expect(await store.islands.curvesOf(ISLAND_ID)).toEqual([]);
    const curves = [{ slug: "llama", numbers: [0.5, -1, 3] }];
    await store.islands.saveCurves([
      { hostId: ISLAND_ID, curves },
      { hostId: "unknown", curves },
    ]);
    await store.islands.save(makeIsland(accountId, { agentVersion: "0.2.0" }), TOKEN_AT_MS);
    expect(await store.islands.curvesOf(ISLAND_ID)).toEqual(curves);
    expect(await store.islands.curvesOf("unknown")).toEqual([]);
    await store.islands.remove(accountId, ISLAND_ID, REMOVED_AT_MS);
    await store.islands.saveCurves([{ hostId: ISLAND_ID, curves }]);
    expect(await store.islands.curvesOf(ISLAND_ID)).toEqual([]);
  });

  check("islands.hasAny() returns true from the first Island on", async (store) => {
    const accountId = await makeAccount(store);
    expect(await store.islands.hasAny()).toBe(false);
    await store.islands.save(makeIsland(accountId), TOKEN_AT_MS);
    expect(await store.islands.hasAny()).toBe(true);
  });

  check(
    "islands.forgetUnseen() deletes Islands unseen since the given time, which touch() updates, up to the limit",
    async (store) => {
      const accountId = await makeAccount(store);
      const ids = [1, 2, 3].map((last) => `7e2f1a50-0000-4000-8000-00000000000${last}`);
      for (const hostId of ids) await store.islands.save(makeIsland(accountId, { hostId }), TOKEN_AT_MS);
      await store.islands.touch([ids[1] as string, "unknown"], MADE_AT_MS + 10);
      await store.islands.touch([ids[1] as string], MADE_AT_MS + 5);
      expect((await store.islands.get(ids[1] as string))?.lastSeenAtMs).toBe(MADE_AT_MS + 10);
      expect(await store.islands.forgetUnseen(MADE_AT_MS - 1, 10)).toBe(0);
      expect(await store.islands.forgetUnseen(MADE_AT_MS, 1)).toBe(1);
      expect(await store.islands.forgetUnseen(MADE_AT_MS + 9, 10)).toBe(1);
      expect((await store.islands.get(ids[1] as string))?.hostId).toBe(ids[1]);
    },
  );
  check("islands.save() keeps 1,000 hosts of an account and deletes the one unseen for longest", async (store) => {
    const [accountId, otherId] = [await makeAccount(store), await makeAccount(store)];
    const hostIds = Array.from({ length: MAX_HOSTS + 2 }, (_, index) => `host-${index}`);
    const ofAnother = makeIsland(otherId, { hostId: "other", lastSeenAtMs: 0 });
    await store.islands.save(ofAnother, TOKEN_AT_MS);
    const save = (hostId: string, index: number) =>
      store.islands.save(makeIsland(accountId, { hostId, lastSeenAtMs: MADE_AT_MS + index }), TOKEN_AT_MS);
    await Promise.all(hostIds.slice(0, MAX_HOSTS).map(save));
    // The first host is seen again, after the second and the third host.
    for (const hostId of ["host-0", ...hostIds.slice(MAX_HOSTS)]) await save(hostId, MAX_HOSTS);
    const found = await Promise.all(hostIds.map((hostId) => store.islands.get(hostId)));
    expect(hostIds.filter((_, index) => found[index] === undefined)).toEqual(["host-1", "host-2"]);
    expect(await store.islands.get("other")).toEqual(recordOf(ofAnother, 0));
  });

  check("islands.get() returns undefined for an unknown host", async (store) => {
    expect(await store.islands.get(ISLAND_ID)).toBeUndefined();
  });

  check("islands.ofAccount() and getAll() return the account's own Islands that are not removed", async (store) => {
    const [accountId, otherId] = [await makeAccount(store), await makeAccount(store)];
    for (const hostId of ["a", "b", "c"]) await store.islands.save(makeIsland(accountId, { hostId }), TOKEN_AT_MS);
    await store.islands.save(makeIsland(otherId, { hostId: "d" }), TOKEN_AT_MS);
    expect(await store.islands.remove(otherId, "b", REMOVED_AT_MS)).toBe(false);
    expect(await store.islands.remove(accountId, "b", REMOVED_AT_MS)).toBe(true);
    const own = (await store.islands.ofAccount(accountId)).toSorted((a, b) => (a.hostId < b.hostId ? -1 : 1));
    expect(own).toEqual(["a", "c"].map((hostId) => ({ hostId, lastSeenAtMs: MADE_AT_MS })));
    const found = await store.islands.getAll(["a", "b", "d", "unknown"]);
    expect(found.map(({ hostId }) => hostId).toSorted()).toEqual(["a", "d"]);
    expect(await store.islands.removedOf(["a", "b", "d"])).toEqual(["b"]);
  });

  check("islands.rename() sets the name of the account's own Island, which later sessions keep", async (store) => {
    const accountId = await makeAccount(store);
    const island = makeIsland(accountId);
    await store.islands.save(island, TOKEN_AT_MS);
    expect(await store.islands.rename(await makeAccount(store), ISLAND_ID, "theirs")).toBe(false);
    expect(await store.islands.rename(accountId, ISLAND_ID, "attic\u0000")).toBe(true);
    await store.islands.save(island, TOKEN_AT_MS);
    expect(await store.islands.get(ISLAND_ID)).toEqual({ ...recordOf(island), name: "attic\u0000" });
    await store.islands.rename(accountId, ISLAND_ID, null);
    expect(await store.islands.get(ISLAND_ID)).toEqual(recordOf(island));
  });

  check("islands.remove() blocks the Island until it uses a later token or one of another account", async (store) => {
    const accountId = await makeAccount(store);
    await store.islands.save(makeIsland(accountId), TOKEN_AT_MS);
    await store.islands.rename(accountId, ISLAND_ID, "attic");
    await store.islands.remove(accountId, ISLAND_ID, REMOVED_AT_MS);
    expect(await store.islands.get(ISLAND_ID)).toBeUndefined();
    expect(await store.islands.rename(accountId, ISLAND_ID, "again")).toBe(false);
    expect(await store.islands.remove(accountId, ISLAND_ID, REMOVED_AT_MS)).toBe(false);
    expect(await store.islands.forgetUnseen(REMOVED_AT_MS, 10)).toBe(0);
    const back = makeIsland(accountId, { lastSeenAtMs: REMOVED_AT_MS + 5 });
    expect(await store.islands.save(back, REMOVED_AT_MS)).toBe("removed");
    expect(await store.islands.save(back, REMOVED_AT_MS + 1)).toBe("saved");
    expect(await store.islands.get(ISLAND_ID)).toEqual(recordOf(back, REMOVED_AT_MS + 5));
    await store.islands.remove(accountId, ISLAND_ID, REMOVED_AT_MS + 6);
    const moved = makeIsland(await makeAccount(store));
    expect(await store.islands.save(moved, TOKEN_AT_MS)).toBe("saved");
    expect((await store.islands.get(ISLAND_ID))?.accountId).toBe(moved.accountId);
  });
}

import { expect } from "vitest";
import type { Store } from "../../../../coordinator/store/store.ts";
import { type Check, ISLAND_ID, MADE_AT_MS, makeAccount, makeEnding, makeJob, runJob } from "./store-builders.ts";

const PAGE = { limit: 20, offset: 0 };
const SUSPENSION = { reason: "spam \u0000 \u{1F3DD}", atMs: MADE_AT_MS };
const OTHER_HOST = "9d1f7a56-0000-4000-8000-000000000002";

export async function saveIsland(store: Store, accountId: string, hostId = ISLAND_ID, lastSeenAtMs = MADE_AT_MS) {
  const report = { agentVersion: "1", hostName: `host-${hostId.slice(0, 4)}`, hardware: {} as never, runtimes: [] };
  await store.islands.save({ hostId, accountId, ...report, lastSeenAtMs }, MADE_AT_MS);
}

export function describeOperators(check: Check): void {
  check("operators.setRole() sets the role of an account", async (store) => {
    const id = await makeAccount(store);
    expect(await store.accounts.get(id)).toMatchObject({ role: "user" });
    const revision = await store.accounts.credentialsRevision();
    expect(await store.operators.setRole(id, "operator")).toBe(true);
    expect(await store.accounts.credentialsRevision()).toBeGreaterThan(revision);
    expect(await store.accounts.get(id)).toMatchObject({ role: "operator" });
    expect(await store.accounts.accountStatus(id)).toMatchObject({ role: "operator", suspensionReason: null });
    expect(await store.operators.setRole("user_none", "operator")).toBe(false);
    expect(await store.accounts.accountStatus("user_none")).toBeUndefined();
  });

  check("operators.suspendAccount() suspends an account once, and never an operator", async (store) => {
    const [id, operatorId] = [await makeAccount(store), await makeAccount(store)];
    await store.operators.setRole(operatorId, "operator");
    const revision = await store.accounts.credentialsRevision();
    expect(await store.operators.suspendAccount(id, SUSPENSION)).toBe(true);
    expect(await store.accounts.credentialsRevision()).toBeGreaterThan(revision);
    expect(await store.operators.suspendAccount(id, { ...SUSPENSION, reason: "other" })).toBe(false);
    expect(await store.operators.suspendAccount(operatorId, SUSPENSION)).toBe(false);
    expect(await store.operators.suspendAccount("user_none", SUSPENSION)).toBe(false);
    expect(await store.accounts.accountStatus(id)).toMatchObject({ suspensionReason: SUSPENSION.reason });
    expect((await store.operators.suspensions()).accounts).toEqual(new Map([[id, SUSPENSION.reason]]));
    expect(await store.operators.reinstateAccount(id)).toBe(true);
    expect(await store.operators.reinstateAccount(id)).toBe(false);
    expect((await store.operators.suspensions()).accounts.size).toBe(0);
  });

  check("operators.suspendAccount() and accounts() ignore a deleted account", async (store) => {
    const id = await makeAccount(store);
    await store.operators.suspendAccount(id, SUSPENSION);
    await store.accounts.delete(id, MADE_AT_MS);
    expect((await store.operators.suspensions()).accounts.size).toBe(0);
    expect(await store.operators.account(id)).toBeUndefined();
    expect(await store.operators.accounts({ search: id }, PAGE)).toEqual({ accounts: [], total: 0 });
    expect(await store.operators.suspendAccount(id, SUSPENSION)).toBe(false);
    expect(await store.operators.setRole(id, "operator")).toBe(false);
  });

  check("operators.suspendIsland() outlasts the deletion of the Island", async (store) => {
    const accountId = await makeAccount(store);
    expect(await store.operators.suspendIsland(ISLAND_ID, SUSPENSION)).toBe(false);
    await saveIsland(store, accountId);
    const revision = await store.accounts.credentialsRevision();
    expect(await store.operators.suspendIsland(ISLAND_ID, SUSPENSION)).toBe(true);
    expect(await store.operators.suspendIsland(ISLAND_ID, SUSPENSION)).toBe(false);
    expect(await store.accounts.credentialsRevision()).toBeGreaterThan(revision);
    expect(await store.operators.island(ISLAND_ID)).toMatchObject({ suspension: SUSPENSION });
    await store.islands.forgetUnseen(MADE_AT_MS, 10);
    expect(await store.operators.island(ISLAND_ID)).toBeUndefined();
    expect((await store.operators.suspensions()).islands).toEqual(new Map([[ISLAND_ID, SUSPENSION.reason]]));
    expect(await store.operators.reinstateIsland(ISLAND_ID)).toBe(true);
    expect(await store.operators.reinstateIsland(ISLAND_ID)).toBe(false);
  });

  check("operators.accounts() filters by address, id, role and suspension, newest first", async (store) => {
    const ann = await makeAccount(store, { email: "Ann_x@a.example" });
    const bob = await makeAccount(store, { email: "bob@b.example", grantMicro: 7_000_000 });
    await store.operators.setRole(ann, "operator");
    await store.operators.suspendAccount(bob, SUSPENSION);
    await saveIsland(store, bob);
    await store.jobs.submit(makeJob(bob));
    const idsOf = async (filter: object, page = PAGE) => {
      const { accounts, total } = await store.operators.accounts(filter, page);
      return [accounts.map(({ id }) => id), total];
    };
    expect(await idsOf({})).toEqual([[ann, bob].toSorted().toReversed(), 2]);
    expect(await idsOf({}, { limit: 1, offset: 1 })).toEqual([[[ann, bob].toSorted()[0]], 2]);
    expect(await idsOf({ search: "NN_" })).toEqual([[ann], 1]);
    expect(await idsOf({ search: "%" })).toEqual([[], 0]);
    expect(await idsOf({ search: bob })).toEqual([[bob], 1]);
    expect(await idsOf({ role: "operator" })).toEqual([[ann], 1]);
    expect(await idsOf({ isSuspended: true })).toEqual([[bob], 1]);
    expect(await idsOf({ isSuspended: false, search: "example" })).toEqual([[ann], 1]);
    expect(await store.operators.account(bob)).toEqual({
      id: bob,
      email: "bob@b.example",
      createdAtMs: MADE_AT_MS,
      role: "user",
      balanceMicro: 6_000_000,
      heldMicro: 1_000_000,
      unfinishedJobs: 1,
      islands: 1,
      suspension: SUSPENSION,
    });
    expect(await store.operators.account("user_none")).toBeUndefined();
  });

  check("operators.islands() filters by id, name, owner, time and suspension, last seen first", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    await saveIsland(store, ann, ISLAND_ID, MADE_AT_MS + 5);
    await saveIsland(store, bob, OTHER_HOST, MADE_AT_MS + 9);
    await store.islands.rename(bob, OTHER_HOST, 'My "Attic"');
    await store.operators.suspendIsland(OTHER_HOST, SUSPENSION);
    const idsOf = async (filter: object, page = PAGE) => {
      const { islands, total } = await store.operators.islands(filter, page);
      return [islands.map(({ hostId }) => hostId), total];
    };
    expect(await idsOf({})).toEqual([[OTHER_HOST, ISLAND_ID], 2]);
    expect(await idsOf({}, { limit: 1, offset: 1 })).toEqual([[ISLAND_ID], 2]);
    expect(await idsOf({ search: OTHER_HOST.slice(0, 6).toUpperCase() })).toEqual([[OTHER_HOST], 1]);
    expect(await idsOf({ search: '"attic"' })).toEqual([[OTHER_HOST], 1]);
    expect(await idsOf({ search: `HOST-${ISLAND_ID.slice(0, 4)}` })).toEqual([[ISLAND_ID], 1]);
    expect(await idsOf({ accountId: ann })).toEqual([[ISLAND_ID], 1]);
    expect(await idsOf({ isSuspended: true })).toEqual([[OTHER_HOST], 1]);
    expect(await idsOf({ isSuspended: false })).toEqual([[ISLAND_ID], 1]);
    expect(await idsOf({ seenSinceMs: MADE_AT_MS + 9 })).toEqual([[OTHER_HOST], 1]);
    expect(await idsOf({ unseenSinceMs: MADE_AT_MS + 9 })).toEqual([[ISLAND_ID], 1]);
    await store.operators.suspendAccount(ann, SUSPENSION);
    expect(await idsOf({ isSuspended: true })).toEqual([[OTHER_HOST, ISLAND_ID], 2]);
    expect(await store.operators.countIslands(MADE_AT_MS + 9)).toEqual({ known: 2, seen: 1 });
    await store.islands.remove(bob, OTHER_HOST, MADE_AT_MS + 10);
    expect(await idsOf({})).toEqual([[ISLAND_ID], 1]);
  });

  check("operators.jobs() returns jobs of all accounts, newest first, with any filter", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const [failed, waiting, other] = [makeJob(ann), makeJob(ann), makeJob(bob, { slug: "hash" })];
    for (const job of [waiting, other]) await store.jobs.submit(job);
    await runJob(store, failed);
    const error = { code: "cargo_failed", message: "no", retryable: false } as const;
    await store.jobs.end(makeEnding(failed, { event: "fail", error, usage: null }));
    const idsOf = async (filter: object, page = PAGE) => {
      const { jobs, total } = await store.operators.jobs(filter, page);
      return [jobs.map(({ id }) => id), total];
    };
    const newest = [failed.id, waiting.id, other.id].toSorted().toReversed();
    expect(await idsOf({})).toEqual([newest, 3]);
    expect(await idsOf({}, { limit: 1, offset: 1 })).toEqual([[newest[1]], 3]);
    expect(await idsOf({ states: ["pending"], slug: "hash" })).toEqual([[other.id], 1]);
    expect(await idsOf({ accountId: ann, states: ["pending"] })).toEqual([[waiting.id], 1]);
    expect(await idsOf({ accountId: ann, slug: "hash" })).toEqual([[], 0]);
    expect(await idsOf({ islandId: ISLAND_ID })).toEqual([[failed.id], 1]);
    expect(await idsOf({ islandId: ISLAND_ID, accountId: bob })).toEqual([[], 0]);
    expect(await idsOf({ states: [] })).toEqual([[], 0]);
    const { jobs } = await store.operators.jobs({ states: ["failed"] }, PAGE);
    expect(jobs).toMatchObject([
      { id: failed.id, accountId: ann, islandId: ISLAND_ID, errorCode: "cargo_failed", attempt: 1 },
    ]);
    expect(await store.operators.unfinishedJobs()).toEqual([
      { slug: "hash", state: "pending", jobs: 1, oldestAtMs: MADE_AT_MS },
      { slug: "tiny-chat", state: "pending", jobs: 1, oldestAtMs: MADE_AT_MS },
    ]);
  });

  check("operators.announce() limits the number of announcements, which expire", async (store) => {
    const { operators } = store;
    const make = (id: string, untilMs: number | null, nowMs = 0) =>
      operators.announce(
        { id, level: "info", text: 'a\u0000"b"', createdAtMs: MADE_AT_MS, untilMs },
        { nowMs, maxAnnouncements: 2 },
      );
    expect(await make("ann_1", 10)).toBe(true);
    expect(await make("ann_2", null)).toBe(true);
    expect(await make("ann_3", null, 9)).toBe(false);
    expect((await operators.announcements(9)).map(({ id }) => id)).toEqual(["ann_2", "ann_1"]);
    const shown = { id: "ann_2", level: "info", text: 'a\u0000"b"', createdAtMs: MADE_AT_MS, untilMs: null };
    expect(await operators.announcements(10)).toEqual([shown]);
    expect(await make("ann_3", null, 10)).toBe(true);
    expect(await operators.removeAnnouncement("ann_2")).toBe(true);
    expect(await operators.removeAnnouncement("ann_2")).toBe(false);
  });
}

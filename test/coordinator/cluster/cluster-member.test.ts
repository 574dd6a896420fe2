import { describe, expect, it } from "vitest";
import { openMember } from "../../../coordinator/cluster/cluster-member.ts";
import { networkOfOne } from "../../../coordinator/store/cluster-store.ts";
import type { Outlook } from "../../../coordinator/scheduler/shared-work.ts";
import type { WorkKind } from "../../../coordinator/scheduler/events.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { peerOf, peersOn } from "./peers-on.ts";
import { CuttableBus } from "./quota-network.ts";
import { seenWork } from "../../../coordinator/cluster/seen-work.ts";

const IDS = ["c1", "c2", "c3", "c4"];
const KIND: WorkKind = { slug: "llama", onlyIslandsOf: "user_1", features: ["chat.tools"] };
const LACKING: Outlook = { is: "lacking", message: "no online Island offers llmcpp" };

/** Opens members of a network of four, in which c3 fails every request and c4 is not running. */
function openNetwork(live = IDS) {
  const bus = new CuttableBus();
  const clock = new ManualClock();
  const ended: string[] = [];
  const read: string[] = [];
  const asked: WorkKind[] = [];
  const warned: unknown[] = [];
  const log = {
    info: () => undefined,
    warn: (facts: object) => void warned.push((facts as { coordinator?: string }).coordinator),
    error: () => undefined,
  };
  const step = async (id: string, done: string[], what: string): Promise<void> => {
    await Promise.resolve();
    if (id === "c3") throw new Error("no storage");
    done.push(what);
  };
  const members = IDS.slice(0, 3).map((id) => {
    const peers = peersOn(bus, id, live, { clock, log });
    const quiet = { subscribe: () => undefined };
    const cluster = { isShared: true, selfId: id, onReturn: () => () => undefined, peers: async () => IDS.map(peerOf) };
    const parts = {
      store: { cluster },
      jobs: { ...quiet, cancelAll: (accountId: string) => step(id, ended, `${id} ${accountId}`) },
      islands: quiet,
      batches: { activeIds: [] },
      scheduler: { shared: { waiting: () => [], freeSlots: 0, islandCount: 0 }, queuedDemand: () => new Map() },
      refreshCatalog: () => step(id, read, id),
    };
    const seen = seenWork(peers, clock);
    const member = openMember(
      testEnv({ islandGraceMs: 1, restartGraceMs: 1 }, { clock, log }),
      { learnTime: async () => undefined, peers, seen },
      parts as unknown as Parameters<typeof openMember>[2],
    );
    const outlookFor = (kind: WorkKind): Outlook => {
      if (id === "c3") throw new Error("no scheduler");
      asked.push(kind);
      return LACKING;
    };
    const readersOf = (slug: string): string[] => {
      if (id === "c3") throw new Error("no Islands");
      return Array.from({ length: 150 }, (_, nth) => `${slug}-reader-${nth}`);
    };
    member.share({ schedule: () => undefined, outlookFor }, readersOf, {});
    return Object.assign(member, { seen });
  });
  const [one] = members;
  if (one === undefined) throw new Error("not open");
  return { one, two: members[1], bus, clock, ended, read, asked, warned };
}

describe("openMember() in a network of one", () => {
  const quiet = { subscribe: () => undefined };
  const demand = new Map([["llama", 2]]);
  const open = (clock: ManualClock) => {
    const peers = peersOn(new CuttableBus(), "c1");
    const seen = seenWork(peers, clock);
    const network = { learnTime: async () => undefined, peers, seen };
    const shared = { waiting: () => [], freeSlots: 0, islandCount: 0 };
    const parts = {
      store: { cluster: networkOfOne("c1") },
      jobs: { ...quiet, cancelAll: async () => undefined, get: () => undefined, list: () => [] },
      islands: quiet,
      batches: { activeIds: [] },
      submissions: { settled: async () => undefined },
      scheduler: { shared, queuedDemand: () => demand },
      refreshCatalog: () => expect.fail("There is nobody to ask"),
    };
    const member = openMember(testEnv({}, { clock }), network, parts as unknown as Parameters<typeof openMember>[2]);
    return Object.assign(member, { seen });
  };

  it("has no peers and waits for none", async () => {
    const member = open(new ManualClock());
    member.share({ schedule: () => undefined, outlookFor: () => LACKING }, () => [], {
      step: () => expect.fail("Nobody is gone"),
    });
    await member.start();
    expect(member.seen.elsewhere(KIND)).toEqual({ peers: 0, running: 0, slots: 0, free: 0 });
    expect([member.seen.mayRunElsewhere(KIND), member.seen.couldReceiveSince(0)]).toEqual([false, true]);
    expect(member.queuedDemand()).toEqual(demand);
    expect(await member.outlooksFor(KIND)).toEqual([]);
    expect(member.readersElsewhere(KIND.slug)).toBeNull();
    await member.mover.claim("host_1", "user_1", [{ jobId: "job_1", attempt: 1 }]);
    await Promise.all([member.endJobsOf("user_1"), member.announceCatalogChange()]);
    expect(await member.transfer(new AbortController().signal)).toEqual([]);
    await member.closeSharing();
    await member.leave();
  });

  it("counts limits at once and has no timers", async () => {
    const clock = new ManualClock();
    const member = open(clock);
    member.share({ schedule: () => undefined, outlookFor: () => LACKING }, () => [], {});
    await member.start();
    const caller = { accountId: "user_1", credential: "key_1", limit: 1 };
    expect(member.quota.countRequest(caller)).toMatchObject({ isAllowed: true });
    expect(member.quota.countRequest(caller)).toMatchObject({ isAllowed: false });
    const release = member.quota.openStream("user_1", 1);
    expect(release).toBeTypeOf("function");
    expect(clock.pendingTimers).toBe(0);
    await member.leave();
  });
});

describe("openMember() in a network of several", () => {
  it("ends the jobs of a deleted account at every coordinator that replies, and logs the others", async () => {
    const { one, ended, warned } = openNetwork();
    await one.endJobsOf("user_1");
    expect(ended.toSorted()).toEqual(["c1 user_1", "c2 user_1"]);
    expect(warned.map(String).toSorted()).toEqual(["c3", "c4"]);
  });

  it("announces a changed catalog to all coordinators in storage, and ignores those that fail", async () => {
    // The member does not know newly started coordinators yet.
    const { one, read, warned } = openNetwork(["c1"]);
    await one.announceCatalogChange();
    expect([read, warned]).toEqual([["c2"], []]);
  });

  it("asks all other coordinators about the whole kind of work, and returns null for each that does not reply", async () => {
    const { one, asked } = openNetwork();
    expect(await one.outlooksFor(KIND)).toEqual([LACKING, null, null]);
    expect(asked).toEqual([KIND]);
  });

  it("asks all other coordinators for readers of a Cargo, and accepts at most 100 of each", async () => {
    const { one } = openNetwork();
    const replies = await one.readersElsewhere("llama");
    expect(replies?.map(({ id, reply }) => [id, reply?.length, reply?.[0]])).toEqual([
      ["c2", 100, "llama-reader-0"],
      ["c3", undefined, undefined],
      ["c4", undefined, undefined],
    ]);
  });

  it("stops serving peers once it closes", async () => {
    const { one, two, ended, read, asked } = openNetwork();
    await two?.closeSharing();
    await one.endJobsOf("user_1");
    await one.announceCatalogChange();
    expect(await one.outlooksFor(KIND)).toEqual([null, null, null]);
    expect([ended, read, asked]).toEqual([["c1 user_1"], [], []]);
  });

  it("reports whether the bus has been up without interruption since a given time", () => {
    const { one, bus, clock } = openNetwork(["c1"]);
    const beganMs = clock.monotonicMs();
    clock.advance(1_000);
    expect(one.seen.couldReceiveSince(beganMs)).toBe(true);
    bus.setDown("gone");
    expect(one.seen.couldReceiveSince(beganMs)).toBe(false);
    clock.advance(1_000);
    bus.setDown(null);
    expect(one.seen.couldReceiveSince(beganMs)).toBe(false);
    expect(one.seen.couldReceiveSince(clock.monotonicMs())).toBe(true);
  });
});

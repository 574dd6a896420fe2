import { afterEach, describe, expect, it } from "vitest";
import { MESSAGES } from "../../../../coordinator/cluster/messages.ts";
import type { SchedulerIsland } from "../../../../coordinator/scheduler/events.ts";
import { GB, makeCargo } from "../../scheduler/builders.ts";
import { SharingNetwork, type SharingCoordinator } from "./sharing-network.ts";

let network: SharingNetwork;

/** A Cargo without a model, so that no Island has to download one. */
const CARGO = makeCargo({ model: null });

function open(count: number, cargos = [CARGO]): readonly SharingCoordinator[] {
  network = new SharingNetwork(count, cargos);
  return network.coordinators;
}

function at(index: number): SharingCoordinator {
  const coordinator = network.coordinators[index];
  if (coordinator === undefined) throw new RangeError(`there is no coordinator ${index}`);
  return coordinator;
}

/** Submits jobs "job_1" to "job_<count>" to one coordinator. */
function submitTo(coordinator: SharingCoordinator, count: number, override: { accountId?: string } = {}): void {
  for (let job = 1; job <= count; job += 1) coordinator.submit({ id: `job_${job}`, ...override });
}

/** Waits until all coordinators know each other and are idle. */
async function begin(): Promise<void> {
  await network.pass(1_200);
}

afterEach(() => network.close());

describe("WorkSharing", () => {
  it("runs a waiting job in a free slot elsewhere, within a moment", async () => {
    open(2);
    at(1).up();
    await begin();
    at(0).submit();
    await network.pass(100);
    expect(network.starts).toMatchObject([{ jobId: "job_1", at: "c2" }]);
    expect(network.requests).toBe(1);
    expect(at(0).scheduler.waitingCount).toBe(0);
  });

  it("starts as many jobs as there are slots, at once and in fair order", async () => {
    open(2);
    at(0).up({}, 1);
    at(1).up({ slots: 5 }, 2);
    at(1).submit({ id: "own" });
    await begin();
    submitTo(at(0), 8);
    at(0).submit({ id: "other", accountId: "user_2" });
    await network.pass(100);
    expect(network.starts.map(({ jobId }) => jobId)).toEqual(["own", "job_1", "other"]);
    expect(network.stored.size).toBe(7);
  });

  it("runs a waiting job as soon as a slot is free, however long it has waited", async () => {
    open(2);
    at(0).up({}, 1);
    at(1).up({}, 1);
    at(0).submit();
    await network.pass(3_000);
    expect(network.starts).toEqual([]);
    at(1).free("c2-isle", "before");
    await network.pass(100);
    expect(network.starts).toMatchObject([{ at: "c2" }]);
  });

  it("announces a new job at once when all announced jobs have been taken", async () => {
    open(2);
    at(1).up({ slots: 9 });
    await begin();
    for (let job = 1; job <= 9; job += 1) {
      at(0).submit({ id: `job_${job}` });
      // The reply reports that no job is left, but this job was submitted after it.
      await network.pass(35);
    }
    await network.pass(100);
    expect(network.starts).toHaveLength(9);
  });

  it("notices a new job while earlier jobs are being taken", async () => {
    open(2);
    at(1).up({ slots: 9 });
    network.takeInMs = 60;
    await begin();
    at(0).submit({ id: "job_1" });
    await network.pass(60);
    expect([network.requests, network.starts]).toEqual([1, []]);
    at(0).submit({ id: "job_2" });
    await network.pass(200);
    expect(network.starts.map(({ jobId }) => jobId)).toEqual(["job_1", "job_2"]);
  });

  it("neither takes nor requests jobs that fit no free slot", async () => {
    open(2, [{ ...CARGO, requiredRamBytes: 32 * GB }]);
    at(1).up();
    at(0).submit();
    at(0).submit({ id: "job_2", onlyIslandsOf: "user_1" });
    await network.pass(5_000);
    expect(network.requests).toBe(0);
    at(1).up({ id: "own", accountId: "user_1", ramBytes: 64 * GB, slots: 2 });
    await network.pass(1_000);
    expect(network.starts.map(({ jobId }) => jobId).sort()).toEqual(["job_1", "job_2"]);
  });

  it("fills the slots of several coordinators with as few requests as needed", async () => {
    const coordinators = open(16);
    for (const each of coordinators.slice(1)) each.up({ slots: 4 });
    await begin();
    submitTo(at(0), 6);
    await network.pass(600);
    expect(network.starts).toHaveLength(6);
    expect(network.requests).toBeLessThanOrEqual(4);
  });

  it("first asks the coordinators that have the model", async () => {
    open(3, [makeCargo()]);
    const model: Partial<SchedulerIsland> = { loaded: ["llama"] };
    at(1).up({ slots: 8 });
    at(2).up(model);
    await begin();
    at(0).submit();
    await network.pass(200);
    expect(network.starts).toMatchObject([{ at: "c3" }]);
  });

  it("takes jobs into a queue from a coordinator without slots, so that none starve next to a full coordinator", async () => {
    open(3);
    at(1).up({ slots: 2 }, 2);
    at(2).up({ slots: 2 }, 2);
    for (const index of [1, 2]) {
      for (let job = 0; job < 20; job += 1) at(index).submit({ id: `own_${index}_${job}`, accountId: `many_${index}` });
    }
    await begin();
    submitTo(at(0), 1, { accountId: "small" });
    await network.pass(1_000);
    expect(at(0).waiting.size).toBe(0);
    const holder = at(1).waiting.has("job_1") ? at(1) : at(2);
    holder.free(`${holder.id}-isle`, "before");
    holder.free(`${holder.id}-isle`, "before");
    expect(network.starts.map(({ jobId }) => jobId)).toContain("job_1");
  });

  it("leaves a job to coordinators that are about to ask for it, and does not move it to a full queue", async () => {
    open(3, [makeCargo()]);
    at(0).up({}, 1);
    at(1).up({ slots: 8, loaded: ["llama"] }, 8);
    // Its Island would have to download the model, so it asks only after queues have been balanced.
    at(2).up();
    await begin();
    at(0).submit();
    await network.pass(1_000);
    expect(network.starts).toMatchObject([{ jobId: "job_1", at: "c3" }]);
    expect(at(1).taken).toBe(0);
  });

  it("takes a job to another coordinator whose Islands it does not avoid", async () => {
    open(2);
    at(0).up({ id: "failed" });
    at(1).up();
    await begin();
    at(0).step({
      kind: "failure",
      islandId: "failed",
      slug: "llama",
      accountId: "user_1",
      cause: "failed",
      code: "out_of_memory",
    });
    at(0).submit({ avoidIslands: ["failed"] });
    await network.pass(100);
    expect(network.starts).toMatchObject([{ jobId: "job_1", at: "c2" }]);
  });

  it("does not move jobs back and forth between full queues", async () => {
    const coordinators = open(4);
    for (const each of coordinators) each.up({ slots: 3 }, 3);
    submitTo(at(0), 40);
    await network.pass(5_000);
    const waiting = coordinators.map((each) => each.waiting.size);
    const moves = coordinators.reduce((sum, { taken }) => sum + taken, 0);
    expect(moves).toBeLessThanOrEqual(40);
    await network.pass(10_000);
    expect(coordinators.map((each) => each.waiting.size)).toEqual(waiting);
    expect(coordinators.reduce((sum, { taken }) => sum + taken, 0)).toBe(moves);
  });

  it("announces at most once a second while all slots are busy", async () => {
    const coordinators = open(4);
    for (const each of coordinators) {
      each.up({ slots: 3 }, 3);
      for (let job = 0; job < 5; job += 1) each.submit({ id: `${each.id}_${job}` });
    }
    await begin();
    network.published.length = 0;
    for (let job = 5; job < 15; job += 1) {
      for (const each of coordinators) each.submit({ id: `${each.id}_${job}` });
      await network.pass(1_000);
    }
    expect(network.published.length).toBeLessThanOrEqual(44);
    expect(network.requests).toBe(0);
  });

  it("finds jobs that moved although the reply was lost", async () => {
    open(2);
    at(1).up();
    await begin();
    network.faults.answers = true;
    at(0).submit();
    await network.pass(1_000);
    expect(network.starts).toEqual([]);
    expect(network.warnings[0]).toContain("A peer did not reply");
    network.faults.answers = false;
    await network.pass(6_000);
    expect(network.starts).toMatchObject([{ jobId: "job_1", at: "c2" }]);
    expect(at(1).reconciled).toBe(1);
  });

  it("asks again after a storage outage, but not continuously during it", async () => {
    open(2);
    at(1).up();
    await begin();
    network.faults.storage = true;
    at(0).submit();
    await network.pass(5_000);
    expect(network.requests).toBeLessThanOrEqual(6);
    network.faults.storage = false;
    await network.pass(2_000);
    expect(network.starts).toMatchObject([{ at: "c2" }]);
  });

  it("neither asks nor serves coordinators that are gone", async () => {
    open(3);
    at(1).up();
    await begin();
    network.setLive(["c1", "c3"]);
    at(0).submit();
    await network.pass(1_000);
    expect(network.starts).toEqual([]);
    const request = { offer: { kinds: [], islands: [] }, backlog: [] };
    await expect(at(1).peers.ask("c1", MESSAGES.steal, request)).rejects.toThrow("not known here");
    await expect(at(2).peers.ask("c1", MESSAGES.steal, request)).resolves.toMatchObject({ jobIds: [] });
    network.setLive(["c1", "c2", "c3"]);
    await network.pass(2_000);
    expect(network.starts).toMatchObject([{ at: "c2" }]);
  });

  it("does not ask a silent coordinator", async () => {
    open(3);
    for (const index of [0, 1]) at(index).up({}, 1);
    at(0).submit();
    await begin();
    await at(0).sharing.close();
    await network.pass(3_500);
    at(1).free("c2-isle", "before");
    await network.pass(1_000);
    expect(network.requests).toBe(0);
  });

  it("ignores invalid messages", async () => {
    open(2);
    at(1).up();
    network.bus.publish("status", ["c1", { freeSlots: "many" }]);
    network.bus.publish("status", null);
    await begin();
    expect(network.warnings).toHaveLength(4);
    network.warnings.length = 0;
    at(0).submit();
    await network.pass(200);
    expect(network.starts).toHaveLength(1);
  });

  it("queues a job here again if it cannot move", async () => {
    open(2);
    at(0).up({}, 1);
    at(1).up();
    await begin();
    network.faults.fixed.add("job_1");
    at(0).submit();
    await network.pass(1_000);
    expect(network.starts).toEqual([]);
    at(0).free("c1-isle", "before");
    await network.pass(50);
    expect(network.starts).toMatchObject([{ jobId: "job_1", at: "c1" }]);
  });

  it("returns the coordinator with the most free slots", async () => {
    open(3);
    at(1).up({ slots: 7 }, 3);
    at(2).up({ slots: 5 });
    expect(at(0).sharing.freestPeer()).toBeUndefined();
    await begin();
    expect(at(0).sharing.freestPeer()).toMatchObject({ id: "c3" });
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeCargo } from "../../scheduler/builders.ts";
import { SharingNetwork, type SharingCoordinator } from "./sharing-network.ts";

let network: SharingNetwork;

beforeEach(() => {
  network = new SharingNetwork(3, [makeCargo({ model: null })]);
});

afterEach(() => network.close());

function at(index: number): SharingCoordinator {
  return network.coordinators[index] as SharingCoordinator;
}

describe("WorkSharing with concurrent requests", () => {
  it("asks others while a reply is pending, for Islands that are not offered yet", async () => {
    for (let island = 0; island < 60; island += 1) at(2).up({ id: `isle-${island}` });
    network.takeInMs = 60;
    await network.pass(1_200);
    at(0).submit({ id: "job_1" });
    at(1).submit({ id: "job_2" });
    await network.pass(60);
    expect([network.requests, network.starts]).toEqual([2, []]);
    await network.pass(100);
    expect(new Set(network.starts.map(({ islandId }) => islandId)).size).toBe(2);
  });

  it("offers an Island to one coordinator at a time", async () => {
    at(2).up({ slots: 9 });
    network.takeInMs = 60;
    await network.pass(1_200);
    at(0).submit({ id: "job_1" });
    at(1).submit({ id: "job_2" });
    await network.pass(60);
    expect([network.requests, network.starts]).toEqual([1, []]);
    await network.pass(200);
    expect(network.starts).toHaveLength(2);
  });
});

describe("WorkSharing with many jobs for Islands of one account each", () => {
  it("starts other jobs as fast as without them", async () => {
    at(1).up();
    for (let count = 0; count < 200; count += 1) {
      at(0).submit({ id: `reading_${count}`, onlyIslandsOf: `absent_${count}` });
    }
    await network.pass(1_200);
    const beganMs = network.clock.monotonicMs();
    at(0).submit({ id: "job_1" });
    await network.pass(3_000);
    expect(network.starts.map(({ jobId, atMs }) => [jobId, atMs - beganMs < 200])).toEqual([["job_1", true]]);
  });

  it("starts a job on an Island that its only account connects later", async () => {
    for (let count = 0; count < 200; count += 1) {
      at(0).submit({ id: `reading_${count}`, onlyIslandsOf: `owner_${count}` });
    }
    await network.pass(1_200);
    at(1).up({ accountId: "owner_150" });
    await network.pass(1_200);
    expect(network.starts).toMatchObject([{ jobId: "reading_150" }]);
  });
});

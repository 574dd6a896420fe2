import { afterEach, describe, expect, it } from "vitest";
import { makeCargo } from "../../scheduler/builders.ts";
import { SharingNetwork, type SharingCoordinator } from "./sharing-network.ts";

let network: SharingNetwork;

function open(count: number): readonly SharingCoordinator[] {
  network = new SharingNetwork(count, [makeCargo({ model: null })]);
  return network.coordinators;
}

/** Job at c1 that failed on its Island c1-isle. */
const AVOIDING = { avoidIslands: ["c1-isle"] };

afterEach(() => network.close());

describe("a job that avoids the only Island of its coordinator", () => {
  it("goes to an Island of another coordinator", async () => {
    const [c1, c2] = open(2);
    c1?.up();
    c2?.up();
    await network.pass(1_200);
    c1?.submit(AVOIDING);
    await network.pass(200);
    expect(network.starts).toMatchObject([{ islandId: "c2-isle" }]);
  });

  it("goes to the first Island of another coordinator, which connected a moment ago", async () => {
    const [c1, , c3] = open(3);
    c1?.up();
    await network.pass(1_200);
    c3?.up();
    await network.pass(50);
    c1?.submit(AVOIDING);
    await network.pass(300);
    expect(network.starts).toMatchObject([{ islandId: "c3-isle" }]);
  });

  it("returns at once if no other coordinator has an Island", async () => {
    const [c1, c2] = open(2);
    c1?.up();
    c2?.up();
    await network.pass(1_200);
    c2?.step({ kind: "island_down", islandId: "c2-isle" });
    await network.pass(50);
    c1?.submit(AVOIDING);
    expect(network.starts).toMatchObject([{ islandId: "c1-isle" }]);
  });

  it("returns after a second if no other coordinator has a free slot for it", async () => {
    const [c1, c2] = open(2);
    c1?.up();
    c2?.up({}, 1);
    await network.pass(1_200);
    const beganMs = network.clock.monotonicMs();
    c1?.submit(AVOIDING);
    await network.pass(1_500);
    expect(network.starts.map(({ islandId, atMs }) => [islandId, atMs - beganMs])).toEqual([["c1-isle", 1_000]]);
  });

  it("returns at once while the bus is down", async () => {
    const [c1, c2] = open(2);
    c1?.up();
    c2?.up();
    await network.pass(1_200);
    Object.defineProperty(network.bus, "downReason", { value: "cut" });
    c1?.submit(AVOIDING);
    expect(network.starts).toMatchObject([{ islandId: "c1-isle" }]);
  });
});

describe("WorkSharing.waitingElsewhere()", () => {
  it("counts waiting jobs at all other coordinators, including those for Islands of one account", async () => {
    const [c1, c2, c3] = open(3);
    c1?.submit({ id: "own" });
    for (const id of ["a", "b"]) c2?.submit({ id });
    c3?.submit({ id: "c", onlyIslandsOf: "user_1" });
    await network.pass(1_200);
    expect([...(c1?.sharing.waitingElsewhere() ?? [])]).toEqual([["llama", 3]]);
  });
});

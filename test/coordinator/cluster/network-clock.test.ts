import { describe, expect, it } from "vitest";
import { networkClock } from "../../../coordinator/cluster/network-clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("the network's clock", () => {
  it("is the machine's until it is set, and the database's from then on, whatever happens to the machine's", async () => {
    const machine = new ManualClock();
    const clock = networkClock(machine);
    expect(clock.now()).toBe(machine.now());
    await clock.set(async () => 5_000);
    expect(clock.now()).toBe(5_000);
    machine.jump(600_000);
    machine.advance(1_000);
    expect(clock.now()).toBe(6_000);
  });

  it("counts half of the time that asking takes", async () => {
    const machine = new ManualClock();
    const clock = networkClock(machine);
    await clock.set(async () => {
      machine.advance(40);
      return 5_000;
    });
    expect(clock.now()).toBe(5_020);
  });

  it("does not move for what asking may hide", async () => {
    const machine = new ManualClock();
    const clock = networkClock(machine);
    await clock.set(async () => 5_000);
    await clock.set(async () => 5_040);
    expect(clock.now()).toBe(5_000);
    await clock.set(async () => {
      machine.advance(1_000);
      return 5_600;
    });
    expect(clock.now()).toBe(6_000);
    await clock.set(async () => 9_000);
    expect(clock.now()).toBe(9_000);
  });
});

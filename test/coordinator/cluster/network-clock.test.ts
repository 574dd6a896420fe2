import { describe, expect, it } from "vitest";
import { networkClock } from "../../../coordinator/cluster/network-clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("networkClock()", () => {
  it("shows machine time until it is set, and database time afterwards, whatever happens to the machine clock", async () => {
    const machine = new ManualClock();
    const clock = networkClock(machine);
    expect(clock.now()).toBe(machine.now());
    await clock.set(async () => 5_000);
    expect(clock.now()).toBe(5_000);
    machine.jump(600_000);
    machine.advance(1_000);
    expect(clock.now()).toBe(6_000);
  });

  it("counts half of the round trip", async () => {
    const machine = new ManualClock();
    const clock = networkClock(machine);
    await clock.set(async () => {
      machine.advance(40);
      return 5_000;
    });
    expect(clock.now()).toBe(5_020);
  });

  it("ignores differences that the round trip may hide", async () => {
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

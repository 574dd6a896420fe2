import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { quotaOwners } from "../../../coordinator/cluster/network-quota.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { peersOn } from "./peers-on.ts";

const owners = (self: string, ids: readonly string[]) =>
  quotaOwners(peersOn(new LocalBus(), self, ids), new ManualClock());
const accounts = Array.from({ length: 3_000 }, (_, index) => `user_${index}`);

describe("quotaOwners()", () => {
  it("assigns each account to the same owner everywhere, and about as many to each", () => {
    const [one, two] = [owners("c1", ["c1", "c2", "c3"]), owners("c2", ["c1", "c2", "c3"])];
    const counts = new Map<string, number>();
    for (const account of accounts) {
      const owner = one.of(account);
      expect(two.of(account)).toBe(owner);
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(["c1", "c2", "c3"]);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it("moves only the accounts of a coordinator that joins or leaves", () => {
    const [before, after] = [owners("c1", ["c1", "c2", "c3"]), owners("c1", ["c1", "c2", "c3", "c4"])];
    const moved = accounts.filter((account) => before.of(account) !== after.of(account));
    expect(new Set(moved.map((account) => after.of(account)))).toEqual(new Set(["c4"]));
    expect(moved.length).toBeGreaterThan(500);
    expect(moved.length).toBeLessThan(1_000);
  });

  it("assigns all accounts to a coordinator that is single or knows no peers yet", () => {
    expect(owners("c1", ["c1"]).of("user_1")).toBe("c1");
    expect(owners("c1", []).of("user_1")).toBe("c1");
  });
});

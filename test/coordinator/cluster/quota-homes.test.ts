import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { QuotaHomes } from "../../../coordinator/cluster/quota-homes.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const peer = (id: string) => ({ id, address: "", version: "1" });
const homes = (self: string, ids: readonly string[]) =>
  new QuotaHomes({
    members: { self: peer(self), living: ids.map(peer) },
    bus: new LocalBus(),
    clock: new ManualClock(),
  });
const accounts = Array.from({ length: 3_000 }, (_, index) => `user_${index}`);

describe("the home of an account", () => {
  it("is the same for all, and each has about as many", () => {
    const [one, two] = [homes("c1", ["c1", "c2", "c3"]), homes("c2", ["c1", "c2", "c3"])];
    const counts = new Map<string, number>();
    for (const account of accounts) {
      const home = one.of(account);
      expect(two.of(account)).toBe(home);
      counts.set(home, (counts.get(home) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(["c1", "c2", "c3"]);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it("moves to a coordinator that comes, and from one that goes, and no other moves", () => {
    const [before, after] = [homes("c1", ["c1", "c2", "c3"]), homes("c1", ["c1", "c2", "c3", "c4"])];
    const moved = accounts.filter((account) => before.of(account) !== after.of(account));
    expect(new Set(moved.map((account) => after.of(account)))).toEqual(new Set(["c4"]));
    expect(moved.length).toBeGreaterThan(500);
    expect(moved.length).toBeLessThan(1_000);
  });

  it("is this coordinator when it is alone, or knows nobody yet", () => {
    expect(homes("c1", ["c1"]).of("user_1")).toBe("c1");
    expect(homes("c1", []).of("user_1")).toBe("c1");
  });
});

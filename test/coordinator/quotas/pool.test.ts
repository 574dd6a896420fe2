import { describe, expect, it } from "vitest";
import { Pool, type PoolKey } from "../../../coordinator/quotas/pool.ts";

type Kind = "account" | "island" | "all";

const LIMITS = { account: 60, island: 80, all: 100 };
const of = (account: string, island?: string): PoolKey<Kind>[] => [
  ["account", account],
  ...(island === undefined ? [] : [["island", island] as const]),
  ["all"],
];

describe("Pool", () => {
  it("has capacity up to the limit of each kind", () => {
    const pool = new Pool<Kind>(LIMITS, "account");
    expect(pool.fullFor(of("a", "island"), 60)).toBeNull();
    expect(pool.fullFor(of("a", "island"), 61)).toBe("account");
    pool.add(of("a", "island"), 60);
    expect(pool.fullFor(of("a", "island"), 1)).toBe("account");
    expect(pool.fullFor(of("a", "island"), 0)).toBeNull();
    expect(pool.fullFor(of("b", "island"), 20)).toBeNull();
    expect(pool.fullFor(of("b", "island"), 21)).toBe("island");
    expect(pool.fullFor(of("b", "other"), 40)).toBeNull();
  });

  it("has capacity only for keys within their equal share when it is used up", () => {
    const pool = new Pool<Kind>(LIMITS, "account");
    pool.add(of("a"), 60);
    pool.add(of("b"), 40);
    expect(pool.fullFor(of("b"), 10)).toBeNull();
    expect(pool.fullFor(of("b"), 11)).toBe("all");
    expect(pool.fullFor(of("c"), 33)).toBeNull();
    expect(pool.fullFor(of("c"), 34)).toBe("all");
  });

  it("has no capacity for any key when it is used up, if it was created without equal shares", () => {
    const pool = new Pool<Kind>(LIMITS);
    pool.add(of("a"), 60);
    pool.add(of("b"), 40);
    expect(pool.fullFor(of("c"), 1)).toBe("all");
  });

  it("has capacity again after a release", () => {
    const pool = new Pool<Kind>(LIMITS, "account");
    pool.add(of("a", "island"), 60);
    pool.add([["island", "island"]], -60);
    expect(pool.fullFor(of("b", "island"), 60)).toBe("all");
    pool.add(of("a"), -60);
    expect(pool.fullFor(of("b", "island"), 60)).toBeNull();
    expect(pool.fullFor(of("a", "other"), 60)).toBeNull();
    expect([...pool.idsOf("account")]).toEqual([]);
  });

  it("take() takes for all keys or none, and releases once", () => {
    const pool = new Pool<Kind>(LIMITS);
    expect(pool.take(of("a", "island"), 61)).toBe("account");
    expect(pool.count("all")).toBe(0);
    const giveBack = pool.take(of("a", "island"), 30);
    expect(giveBack).toBeTypeOf("function");
    pool.add(of("a", "island"), 5);
    for (const _ of [1, 2]) if (typeof giveBack === "function") giveBack();
    expect([pool.count("account", "a"), pool.count("island", "island"), pool.count("all")]).toEqual([5, 5, 5]);
  });

  it("throws if a key releases more than it holds", () => {
    expect(() => new Pool(LIMITS).add([["account", "a"]], -1)).toThrow("account a releases 1 and holds only 0");
  });
});

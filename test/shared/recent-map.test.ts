import { expect, it } from "vitest";
import { recentMap } from "../../shared/recent-map.ts";

it("recentMap() forgets the least recently used entry beyond its limit", () => {
  const map = recentMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.get("a");
  map.set("c", 3);
  expect([...map.entries()]).toEqual([
    ["c", 3],
    ["a", 1],
  ]);
  map.set("a", 4);
  expect(map.size).toBe(2);
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IndexedHeap } from "../../../coordinator/scheduler/indexed-heap.ts";

interface Item {
  heapIndex: number;
  key: number;
  readonly id: number;
}

function hasLowerId(a: Item, b: Item): boolean {
  return a.id < b.id;
}

describe("IndexedHeap", () => {
  const action = fc.record({
    pick: fc.nat(),
    key: fc.nat(20),
    kind: fc.constantFrom("push", "push", "remove", "update"),
  });

  it("keeps the first item in front after any pushes, removals and updates", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200, size: "max" }), (actions) => {
        const heap = new IndexedHeap<Item>(hasLowerId);
        const items: Item[] = [];
        for (const [id, { kind, pick, key }] of actions.entries()) {
          const item = items[pick % Math.max(1, items.length)];
          if (kind === "push" || item === undefined) {
            const added = { heapIndex: -1, key, id };
            items.push(added);
            heap.push(added, key);
          } else if (kind === "remove") {
            heap.remove(item);
            items.splice(items.indexOf(item), 1);
            expect(item.heapIndex).toBe(-1);
          } else {
            item.key = key;
            heap.update(item, key);
          }
          expect(heap.size).toBe(items.length);
          const sorted = items.toSorted((a, b) => a.key - b.key || a.id - b.id);
          expect(heap.peek()).toBe(sorted[0]);
          expect(heap.first(3)).toEqual(sorted.slice(0, 3));
        }
      }),
    );
  });

  it("throws on an item that is already in a heap and on one that is not in this heap", () => {
    const heap = new IndexedHeap<Item>(hasLowerId);
    const item = { heapIndex: -1, key: 1, id: 1 };
    heap.push(item, 1);
    expect(() => heap.push(item, 1)).toThrow("already in a heap");
    expect(() => new IndexedHeap<Item>(hasLowerId).remove(item)).toThrow("not in this heap");
    heap.remove(item);
    expect(() => heap.update(item, 1)).toThrow("not in this heap");
  });
});

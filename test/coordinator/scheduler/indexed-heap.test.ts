import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IndexedHeap } from "../../../coordinator/scheduler/indexed-heap.ts";

interface Item {
  heapIndex: number;
  key: number;
  readonly id: number;
}

function comesBefore(a: Item, b: Item): boolean {
  return a.key === b.key ? a.id < b.id : a.key < b.key;
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
        const heap = new IndexedHeap<Item>(comesBefore);
        const items: Item[] = [];
        for (const [id, { kind, pick, key }] of actions.entries()) {
          const item = items[pick % Math.max(1, items.length)];
          if (kind === "push" || item === undefined) {
            const added = { heapIndex: -1, key, id };
            items.push(added);
            heap.push(added);
          } else if (kind === "remove") {
            heap.remove(item);
            items.splice(items.indexOf(item), 1);
            expect(item.heapIndex).toBe(-1);
          } else {
            item.key = key;
            heap.update(item);
          }
          expect(heap.size).toBe(items.length);
          expect(heap.peek()).toBe(items.toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))[0]);
        }
      }),
    );
  });

  it("throws on an item that is already in a heap and on one that is not in this heap", () => {
    const heap = new IndexedHeap<Item>(comesBefore);
    const item = { heapIndex: -1, key: 1, id: 1 };
    heap.push(item);
    expect(() => heap.push(item)).toThrow("already in a heap");
    expect(() => new IndexedHeap<Item>(comesBefore).remove(item)).toThrow("not in this heap");
    heap.remove(item);
    expect(() => heap.update(item)).toThrow("not in this heap");
  });
});

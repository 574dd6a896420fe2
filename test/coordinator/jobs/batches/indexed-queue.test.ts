import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IndexedQueue } from "../../../../coordinator/jobs/batches/indexed-queue.ts";

describe("IndexedQueue", () => {
  it("returns the positions of a plain list after any pushes and removals", () => {
    const act = fc.record({ leaves: fc.boolean(), who: fc.nat(11) });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80 }), (acts) => {
        const queue = new IndexedQueue();
        const list: string[] = [];
        for (const { leaves, who } of acts) {
          const id = `job_${who}`;
          const index = list.indexOf(id);
          if (leaves) {
            expect(queue.remove(id)).toBe(index >= 0);
            if (index >= 0) list.splice(index, 1);
          } else if (index < 0) {
            queue.push(id);
            list.push(id);
          }
          expect([queue.size, queue.first]).toEqual([list.length, list[0]]);
          expect(list.map((job) => queue.positionOf(job))).toEqual(list.map((_, index) => index + 1));
          if (!list.includes(id)) expect(queue.positionOf(id)).toBeNull();
        }
      }),
    );
  });
});

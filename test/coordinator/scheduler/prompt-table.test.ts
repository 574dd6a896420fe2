import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PromptTable } from "../../../coordinator/scheduler/prompt-table.ts";

const MAX_SHARING = 3;

describe("PromptTable", () => {
  const hash = fc.integer({ min: -3, max: 3 });
  const action = fc.record({ pick: fc.nat(), hashes: fc.tuple(hash, hash, hash), removes: fc.boolean() });

  it("finds the latest prompts with a start after any additions and removals", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 300, size: "max" }), (actions) => {
        const table = new PromptTable(MAX_SHARING);
        const rows: number[] = [];
        /** Rows by hash, the latest first. */
        const lists = new Map<number, number[]>();
        for (const [nth, { pick, hashes, removes }] of actions.entries()) {
          const [removed] = removes ? rows.splice(pick % Math.max(1, rows.length), 1) : [];
          if (removed !== undefined) {
            table.remove(removed);
            for (const [each, list] of lists) {
              lists.set(
                each,
                list.filter((row) => row !== removed),
              );
            }
          } else {
            const row = table.add(`isle-${nth}`, "llama", hashes);
            rows.push(row);
            expect([table.islandOf(row), table.hashOf(row)]).toEqual([`isle-${nth}`, hashes[0]]);
            for (const each of new Set(hashes)) {
              lists.set(each, [row, ...(lists.get(each) ?? [])].slice(0, MAX_SHARING));
            }
          }
          for (const [each, list] of lists) expect(table.rowsWith(each)).toEqual(list);
        }
      }),
    );
  });
});

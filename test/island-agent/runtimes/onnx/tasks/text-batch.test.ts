import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planBatches } from "../../../../../island-agent/runtimes/onnx/tasks/text-batch.ts";

describe("planBatches()", () => {
  it("batches texts of similar length, up to the limit including padding", () => {
    expect(planBatches([2, 9, 3, 8, 1], 10)).toEqual([[4, 0, 2], [3], [1]]);
  });

  it("returns a batch for each text if the limit is 0", () => {
    expect(planBatches([5, 3, 4], 0)).toEqual([[1], [2], [0]]);
  });

  it("includes each text once, and only single texts exceed the limit", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 600 })), fc.integer({ min: 0, max: 2_000 }), (sizes, limit) => {
        const batches = planBatches(sizes, limit);
        expect(batches.flat().sort((a, b) => a - b)).toEqual([...sizes.keys()]);
        for (const batch of batches) {
          const padded = batch.length * Math.max(...batch.map((index) => sizes[index] ?? 0));
          expect(batch.length === 1 || padded <= limit).toBe(true);
        }
      }),
    );
  });
});

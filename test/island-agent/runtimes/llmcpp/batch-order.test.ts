import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillBatch } from "../../../../island-agent/runtimes/llmcpp/batch-order.ts";

describe("fillBatch()", () => {
  it("puts sequences in ascending order, whatever the order in which they queued", () => {
    const waiting = [3, 0, 2].map((sequenceId) => ({ sequenceId, count: 1 }));
    expect(fillBatch(waiting, 512).map(({ index }) => index)).toEqual([1, 2, 0]);
  });

  it("gives decodes their slot before a prompt that would fill the batch", () => {
    const waiting = [
      { sequenceId: 0, count: 2_000 },
      { sequenceId: 1, count: 1 },
    ];
    expect(fillBatch(waiting, 512)).toEqual([
      { index: 0, count: 511 },
      { index: 1, count: 1 },
    ]);
  });

  it("takes a short prompt whole beside a long one", () => {
    const waiting = [
      { sequenceId: 0, count: 2_000 },
      { sequenceId: 1, count: 20 },
    ];
    expect(fillBatch(waiting, 512)).toEqual([
      { index: 0, count: 492 },
      { index: 1, count: 20 },
    ]);
  });

  it("fills the batch exactly, or takes everything", () => {
    const waitingTokens = fc.uniqueArray(
      fc.record({ sequenceId: fc.nat(7), count: fc.integer({ min: 1, max: 900 }) }),
      {
        selector: ({ sequenceId }) => sequenceId,
      },
    );
    fc.assert(
      fc.property(waitingTokens, fc.integer({ min: 1, max: 600 }), (waiting, size) => {
        const shares = fillBatch(waiting, size);
        const wanted = waiting.reduce((sum, { count }) => sum + count, 0);
        expect(shares.reduce((sum, { count }) => sum + count, 0)).toBe(Math.min(size, wanted));
        for (const { index, count } of shares) expect(count).toBeLessThanOrEqual(waiting[index]?.count ?? 0);
      }),
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillBatch } from "../../../../island-agent/runtimes/llmcpp/batch-order.ts";

describe("fillBatch()", () => {
  it("returns sequences in ascending order for any order of arrival", () => {
    const waiting = [3, 0, 2].map((sequenceId) => ({ sequenceId, count: 1 }));
    expect(fillBatch(waiting, 512).map(({ index }) => index)).toEqual([1, 2, 0]);
  });

  it("includes decodes before a prompt that would fill the batch", () => {
    const waiting = [
      { sequenceId: 0, count: 2_000 },
      { sequenceId: 1, count: 1 },
    ];
    expect(fillBatch(waiting, 512)).toEqual([
      { index: 0, count: 511 },
      { index: 1, count: 1 },
    ]);
  });

  it("leaves the last token of a prompt to the next batch, unless it is the only one", () => {
    const [prompt, decode] = [
      { sequenceId: 0, count: 20 },
      { sequenceId: 1, count: 1 },
    ];
    expect(fillBatch([prompt, decode], 512)).toEqual([
      { index: 0, count: 19 },
      { index: 1, count: 1 },
    ]);
    expect(fillBatch([prompt], 512)).toEqual([{ index: 0, count: 20 }]);
  });

  it("includes a short prompt before a long one", () => {
    const waiting = [
      { sequenceId: 0, count: 2_000 },
      { sequenceId: 1, count: 20 },
    ];
    expect(fillBatch(waiting, 512)).toEqual([
      { index: 0, count: 493 },
      { index: 1, count: 19 },
    ]);
  });

  it("fills the batch, or includes all but the last tokens of prompts", () => {
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
        const prompts = waiting.filter(({ count }) => count > 1).length;
        const taken = shares.reduce((sum, { count }) => sum + count, 0);
        expect(taken).toBeLessThanOrEqual(Math.min(size, wanted));
        expect(taken).toBeGreaterThanOrEqual(Math.min(size, wanted) - (waiting.length > 1 ? prompts : 0));
        // Only sequences with one token, or a single sequence, get results.
        for (const { index, count } of shares) {
          const isWhole = count === waiting[index]?.count;
          expect(!isWhole || count === 1 || waiting.length === 1).toBe(true);
        }
        for (const { index, count } of shares) expect(count).toBeLessThanOrEqual(waiting[index]?.count ?? 0);
      }),
    );
  });
});

import { describe, expect, it } from "vitest";
import { BatchSize } from "../../../../island-agent/runtimes/llmcpp/batch-size.ts";

/** Returns the sizes of consecutive full batches. Each takes the time that `msOf` returns for its size. */
function sizes(size: BatchSize, batches: number, msOf: (tokens: number) => number): number[] {
  return Array.from({ length: batches }, () => {
    const { tokens } = size;
    size.note({ tokens, ms: msOf(tokens) });
    return tokens;
  });
}

describe("BatchSize", () => {
  it("starts small and grows to the context's limit", () => {
    expect(sizes(new BatchSize(512), 6, (tokens) => tokens / 10)).toEqual([32, 64, 128, 256, 512, 512]);
    expect(new BatchSize(8).tokens).toBe(8);
  });

  it("stays small for a model that is slow for each token, after two measurements", () => {
    expect(sizes(new BatchSize(512), 5, (tokens) => tokens * 30)).toEqual([32, 64, 32, 32, 32]);
  });

  it("shrinks as tokens late in a prompt take longer, and grows again afterwards", () => {
    const size = new BatchSize(512);
    sizes(size, 5, (tokens) => tokens / 10);
    expect(sizes(size, 4, (tokens) => tokens * 4)).toEqual([512, 256, 128, 64]);
    expect(sizes(size, 4, (tokens) => tokens / 10)).toEqual([64, 128, 256, 512]);
  });

  it("does not shrink if a smaller batch takes as long", () => {
    const size = new BatchSize(512);
    sizes(size, 5, (tokens) => tokens / 10);
    expect(sizes(size, 6, () => 900)).toEqual([512, 256, 512, 512, 256, 512]);
  });

  it("ignores a batch that was not full", () => {
    const size = new BatchSize(512);
    sizes(size, 5, (tokens) => tokens / 10);
    size.note({ tokens: 4, ms: 5_000 });
    expect(size.tokens).toBe(512);
  });
});

import { describe, expect, it } from "vitest";
import { DeliveredTokens } from "../../../coordinator/jobs/attempts/attempt-meter.ts";
import type { JobTraits } from "../../../coordinator/jobs/job-traits.ts";
import type { OutputItem } from "../../../shared/output.ts";

const call = (args: string, count: number, name?: string): OutputItem => ({
  type: "tool_call",
  index: 0,
  ...(name === undefined ? {} : { id: "call_1", name }),
  arguments: args,
  count,
});
const countsOf = (items: readonly OutputItem[]): unknown[] =>
  items.map((item) => ("count" in item ? item.count : null));

describe("DeliveredTokens", () => {
  it("accepts tokens of calls up to the bytes of their names, their arguments and the marks around them", () => {
    const delivered = new DeliveredTokens();
    expect(countsOf(delivered.take([call("", 1_000, "sum"), call("{}", 1_000), call('"€"', 1_000)]))).toEqual([
      67, 2, 5,
    ]);
  });

  it("limits cached tokens to the prompt tokens, and leaves them out if they are not reported", () => {
    const delivered = new DeliveredTokens();
    const traits = { maxPromptTokens: 10 } as JobTraits;
    const usage = { promptTokens: 50, completionTokens: 0 };
    expect(delivered.bound({ ...usage, cachedTokens: 40 }, 0, traits).cachedTokens).toBe(10);
    expect(delivered.bound({ ...usage, cachedTokens: 4 }, 0, traits).cachedTokens).toBe(4);
    expect(delivered.bound(usage, 0, traits)).not.toHaveProperty("cachedTokens");
  });

  it("keeps honest counts, and returns the same array", () => {
    const items: OutputItem[] = [{ type: "token", content: "Hi", count: 1 }, call("", 12, "sum"), call("{}", 1)];
    expect(new DeliveredTokens().take(items)).toBe(items);
  });
});

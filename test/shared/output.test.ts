import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isTokenItem, outputItemSchema } from "../../shared/output.ts";

const odd = fc.oneof(
  fc.anything(),
  fc.constantFrom(null, undefined, -1, -0, 0.5, 1e6, 1e6 + 1, Number.NaN, Infinity, "1", 2 ** 53, true, 5n),
);
const content = fc.oneof(fc.string(), fc.constantFrom("a".repeat(1e6), "a".repeat(1e6 + 1), ""), odd);
const count = fc.oneof(fc.nat(2e6), odd);

it("isTokenItem() leaves probabilities to the schema", () => {
  const item = { type: "token", content: "a", count: 1, logprobs: [{ token: "a", logprob: 1, top: [] }] };
  expect([isTokenItem(item), outputItemSchema.safeParse(item).success]).toEqual([false, false]);
});

it("isTokenItem() accepts exactly the schema's tokens", () => {
  const item = fc.oneof(
    { weight: 8, arbitrary: fc.record({ type: fc.constant("token"), content, count }, { requiredKeys: ["type"] }) },
    fc.record({ type: odd, content, count }),
    odd,
  );
  let tokens = 0;
  fc.assert(
    fc.property(item, (value) => {
      const parsed = outputItemSchema.safeParse(value);
      expect(isTokenItem(value)).toBe(parsed.success && parsed.data.type === "token");
      if (isTokenItem(value)) tokens += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(tokens).toBeGreaterThan(50);
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { fromIslandSchema } from "../../shared/protocol/from-island.ts";
import { asTokenFrame, asTokenFrames } from "../../shared/protocol/token-frames.ts";

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, "", "token", -1, 0, 1.5, NaN, 2 ** 53, "x".repeat(65), [], {}),
  fc.jsonValue(),
);
const mostly = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 15, arbitrary }, { weight: 1, arbitrary: odd });
/** Occasionally adds an unknown field. */
const withExtra = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc.oneof({ weight: 9, arbitrary: fc.record(fields) }, { weight: 1, arbitrary: fc.record({ ...fields, extra: odd }) });
const item = withExtra({
  type: mostly(fc.constant("token")),
  content: mostly(fc.string()),
  count: mostly(fc.integer({ min: -1, max: 1_000_001 })),
});
const frame = withExtra({
  type: mostly(fc.constant("output")),
  jobId: mostly(fc.string()),
  attempt: mostly(fc.integer({ min: -1 })),
  seq: mostly(fc.integer({ min: -1 })),
  items: mostly(fc.array(item, { maxLength: 3 })),
});

it("asTokenFrame() accepts only what the schema accepts, and returns the same", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: frame }, { weight: 1, arbitrary: odd }), (value) => {
      const found = asTokenFrame(value);
      if (found === null) return;
      taken += 1;
      expect(fromIslandSchema.parse(value)).toEqual(found);
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(10);
});

const token = { type: "token", content: "a", count: 1 };
it.each([
  ["many tokens", Array.from({ length: 10_000 }, () => token), true],
  ["too many tokens", Array.from({ length: 10_001 }, () => token), false],
  ["a token with an unknown field", [{ ...token, more: "x" }], false],
  ["a token and an image", [token, { type: "image", data: "", format: "png" }], false],
  ["no token", [], false],
])("asTokenFrame() validates %s", (_, items, isAccepted) => {
  const value = { type: "output", jobId: "job_1", attempt: 1, seq: 1, items };
  expect(asTokenFrame(value) === value).toBe(isAccepted);
});

const joined = withExtra({
  type: mostly(fc.constant("outputs")),
  outputs: mostly(
    fc.array(
      withExtra({
        jobId: mostly(fc.string()),
        attempt: mostly(fc.integer({ min: -1, max: 50 })),
        seq: mostly(fc.integer({ min: -1, max: 50 })),
        items: mostly(fc.array(item, { minLength: 1, maxLength: 2 })),
      }),
      { maxLength: 2 },
    ),
  ),
});

it("asTokenFrames() accepts only what the schema accepts, and returns the same", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: joined }, { weight: 1, arbitrary: odd }), (value) => {
      const found = asTokenFrames(value);
      if (found === null) return;
      taken += 1;
      expect(fromIslandSchema.parse(value)).toEqual(found);
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(10);
});

const outputOf = (items: number) => ({
  jobId: "job_1",
  attempt: 1,
  seq: 1,
  items: Array.from({ length: items }, () => token),
});
it.each([
  ["1,000 outputs", Array.from({ length: 1_000 }, () => outputOf(1)), true],
  ["1,001 outputs", Array.from({ length: 1_001 }, () => outputOf(1)), false],
  ["10,000 tokens", [outputOf(5_000), outputOf(5_000)], true],
  ["10,001 tokens", [outputOf(5_000), outputOf(5_001)], false],
  ["an output with a type", [{ type: "output", ...outputOf(1) }], false],
  ["no output", [], false],
])("asTokenFrames() validates %s", (_, outputs, isAccepted) => {
  const value = { type: "outputs", outputs };
  expect(asTokenFrames(value) === value).toBe(isAccepted);
});

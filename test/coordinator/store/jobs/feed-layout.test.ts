import fc from "fast-check";
import { expect, it } from "vitest";
import { foldFeed, unfoldFeed, type StoredItem } from "../../../../coordinator/store/jobs/feed-layout.ts";

const count = fc.nat(9);
const item: fc.Arbitrary<StoredItem> = fc.oneof(
  fc.record({ type: fc.constant("token" as const), content: fc.string({ unit: "grapheme" }), count }),
  fc.record({ type: fc.constant("status" as const), state: fc.string() }),
  fc.record({ type: fc.constant("progress" as const), step: count, total: count }),
  fc.record({ type: fc.constant("image" as const), format: fc.constant("png"), data: fc.string() }),
  fc.record({
    type: fc.constant("image" as const),
    format: fc.constant("png"),
    large: fc.record({ name: fc.string(), chars: fc.nat() }),
  }),
);
const chunk = fc.record({ attempt: fc.integer({ min: 1, max: 3 }), items: fc.array(item, { maxLength: 5 }) });
const itemsOf = (parts: readonly { attempt: number; items: readonly StoredItem[] }[]) =>
  parts.flatMap(({ attempt, items }) => items.map((each) => [attempt, each]));

it("unfoldFeed() restores the items and attempts of a folded feed", () => {
  fc.assert(
    fc.property(fc.array(chunk), (chunks) => {
      expect(itemsOf(unfoldFeed(foldFeed(chunks)))).toEqual(itemsOf(chunks));
    }),
  );
});

it("foldFeed() joins a surrogate pair from two tokens in the text, and unfoldFeed() splits it again", () => {
  const tokens = ["\u{1F3DD}".slice(0, 1), "\u{1F3DD}".slice(1), "x"];
  const items = tokens.map((content) => ({ type: "token" as const, content, count: 1 }));
  const folded = foldFeed([{ attempt: 1, items }]);
  expect(folded.text).toBe("\u{1F3DD}x");
  expect(unfoldFeed(folded)).toEqual([{ attempt: 1, items }]);
});

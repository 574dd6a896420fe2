import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import { readPositionsOf } from "../../shared/chat-reading.ts";
import { chatFeaturesOf } from "../../shared/features/features.ts";

const READ = { text: "Hello", has_end: true, at: [0, 0.5] };

describe("a chat with an answer to be read", () => {
  it("requires the feature chat.read", () => {
    expect(chatFeaturesOf(chatInputSchema.parse({ prompt: "Hi", read: READ }))).toEqual(["chat.read"]);
    expect(chatFeaturesOf(chatInputSchema.parse({ prompt: "Hi" }))).toEqual([]);
  });
  it("keeps the answer in its request", () => {
    expect(chatRequestOf(chatInputSchema.parse({ prompt: "Hi", read: READ })).read).toEqual(READ);
    expect(chatRequestOf(chatInputSchema.parse({ prompt: "Hi" })).read).toBeNull();
  });
});

describe("readPositionsOf()", () => {
  it("returns each position once, ascending, with the last one", () => {
    expect(readPositionsOf({ at: [0.5, 0, 0.51, 0.999] }, 10)).toEqual([0, 5, 9]);
    expect(readPositionsOf({ at: [0.999] }, 1)).toEqual([0]);
  });
  it("returns only positions of the answer", () => {
    const at = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(at, fc.integer({ min: 1, max: 1_000_000 }), (fractions, tokens) => {
        const positions = readPositionsOf({ at: fractions }, tokens);
        expect(positions.every((each) => each >= 0 && each < tokens)).toBe(true);
        expect(positions.at(-1)).toBe(tokens - 1);
      }),
    );
  });
});

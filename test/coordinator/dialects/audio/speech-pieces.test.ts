import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitText } from "../../../../coordinator/dialects/audio/speech.ts";

describe("splitText()", () => {
  it("splits a text between sentences", () => {
    expect(splitText("One two. Three four. Five.", 20)).toEqual(["One two.", "Three four. Five."]);
    expect(splitText("One two. Three four.", 100)).toEqual(["One two. Three four."]);
  });

  it("splits longer sentences between words, and longer words between characters", () => {
    expect(splitText("one two three", 8)).toEqual(["one two", "three"]);
    expect(splitText("abcdefgh", 3)).toEqual(["abc", "def", "gh"]);
    expect(splitText("😀😀", 3)).toEqual(["😀", "😀"]);
  });

  it("loses only white space and respects the limit", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 2, max: 50 }), (text, maxChars) => {
        const pieces = splitText(text, maxChars);
        expect(pieces.every((piece) => piece.length > 0 && piece.length <= maxChars)).toBe(true);
        expect(pieces.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
      }),
    );
  });
});

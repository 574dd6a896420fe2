import { describe, expect, it } from "vitest";
import { isVisibleItem, isVisibleText } from "../../shared/visible-text.ts";

describe("isVisibleText()", () => {
  it.each([
    ["nothing", ""],
    ["spaces and line breaks", " \t\r\n"],
    ["a no-break space", "\u00A0"],
    ["an ideographic space", "\u3000"],
    ["a zero-width space", "\u200B"],
    ["a joiner and marks of direction", "\u200D\u200E\u202E"],
    ["a soft hyphen", "\u00AD"],
    ["a byte order mark", "\uFEFF"],
    ["a variation selector", "\uFE0F"],
    ["a Hangul filler", "\u3164"],
    ["a blank Braille pattern", "\u2800"],
    ["control characters", "\u0000\u001B"],
  ])("is false for %s", (_, text) => {
    expect(isVisibleText(text)).toBe(false);
  });

  it.each([".", " a ", "\u200B🙂", "é", "\u{1F3FD}", "\uD83D"])("is true for %j", (text) => {
    expect(isVisibleText(text)).toBe(true);
  });
});

describe("isVisibleItem()", () => {
  it("is false for progress, and for text and reasoning of white space", () => {
    expect(isVisibleItem({ type: "progress" })).toBe(false);
    expect(isVisibleItem({ type: "token", content: "\n" })).toBe(false);
    expect(isVisibleItem({ type: "reasoning", content: " " })).toBe(false);
  });

  it("is true for other text, tool calls and images", () => {
    expect(isVisibleItem({ type: "token", content: "Hi" })).toBe(true);
    expect(isVisibleItem({ type: "tool_call" })).toBe(true);
    expect(isVisibleItem({ type: "image" })).toBe(true);
  });
});

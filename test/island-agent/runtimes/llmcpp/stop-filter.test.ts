import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StopFilter } from "../../../../island-agent/runtimes/llmcpp/stop-filter.ts";

/** Pushes texts of one token each, and lists the output, ending with the output of `end()`. */
function filter(stops: string[], texts: string[]): { out: string[]; isStopped: boolean; count: number } {
  const stop = new StopFilter(stops);
  const pieces = [];
  for (const text of texts) {
    if (!stop.isStopped) pieces.push(stop.push({ text, count: 1 }));
  }
  pieces.push(stop.end());
  const count = pieces.reduce((sum, piece) => sum + piece.count, 0);
  return { out: pieces.map(({ text }) => text), isStopped: stop.isStopped, count };
}

describe("StopFilter", () => {
  it("passes text on immediately without stop sequences", () => {
    expect(filter([], ["a", "b"])).toEqual({ out: ["a", "b", ""], isStopped: false, count: 2 });
  });

  it("cuts before a stop sequence within a piece", () => {
    expect(filter(["xy"], ["ab", "cxyd", "e"])).toEqual({ out: ["ab", "c", ""], isStopped: true, count: 2 });
  });

  it("cuts before a stop sequence over several pieces", () => {
    expect(filter(["xyz"], ["ax", "y", "z"])).toEqual({ out: ["", "", "a", ""], isStopped: true, count: 3 });
  });

  it("holds back whole pieces, so that delivered text ends with a token", () => {
    expect(filter(["gx"], ["morning", ",", "b"]).out).toEqual(["", "morning,", "b", ""]);
  });

  it("delivers held text at the end if the sequence was not completed", () => {
    expect(filter(["xyz"], ["a", "x", "y"])).toEqual({ out: ["a", "", "", "xy"], isStopped: false, count: 3 });
  });

  it("cuts at the first of several sequences", () => {
    expect(filter(["d", "bc"], ["abcd"]).out).toEqual(["a", ""]);
  });

  it("names the sequence, or the longest of several at one position", () => {
    const stop = new StopFilter(["b", "bc", "d"]);
    expect(stop.stop).toBeNull();
    stop.push({ text: "abcd", count: 1 });
    expect(stop.stop).toBe("bc");
  });

  it("delivers exactly the text before the first stop sequence, wherever the text is split", () => {
    const letters = (max: number) => fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: max });
    fc.assert(
      fc.property(fc.array(letters(3), { maxLength: 12 }), fc.array(letters(4), { maxLength: 3 }), (texts, stops) => {
        const text = texts.join("");
        const cuts = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
        const { out, isStopped } = filter(stops, texts);
        expect(isStopped).toBe(cuts.length > 0);
        expect(out.join("")).toBe(isStopped ? expectedCut(texts, stops) : text);
      }),
    );
  });
});

/** A streaming reader stops at the first piece that completes a sequence, before the earliest sequence in it. */
function expectedCut(texts: string[], stops: string[]): string {
  let text = "";
  for (const piece of texts) {
    text += piece;
    const cuts = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
    if (cuts.length > 0) return text.slice(0, Math.min(...cuts));
  }
  return text;
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventParser, readEvents, type ServerEvent } from "../../sdk/typescript/src/sse.ts";
import { collect } from "../support/http/http.ts";

const parse = (...pieces: string[]): ServerEvent[] => {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

describe("EventParser", () => {
  it.each<[string, string, ServerEvent[]]>([
    ["an event", "id: 1.2\nevent: token\ndata: {}\n\n", [{ id: "1.2", event: "token", data: "{}" }]],
    ["an event without its blank line", "id: 1\ndata: {}\n", []],
    ["comments", ": heartbeat\n\n:\n\n", []],
    ["data of several lines", "data: a\ndata:b\ndata\n\n", [{ id: "", event: "", data: "a\nb\n" }]],
    [
      "an id that stays",
      "id: 7\ndata: a\n\ndata: b\n\n",
      [
        { id: "7", event: "", data: "a" },
        { id: "7", event: "", data: "b" },
      ],
    ],
    [
      "every line break",
      "data: a\r\n\r\ndata: b\r\rdata: c\n\n",
      ["a", "b", "c"].map((data) => ({ id: "", event: "", data })),
    ],
    ["only one space after the colon", "data:  a\n\n", [{ id: "", event: "", data: " a" }]],
    ["fields that it does not know", "retry: 10\nfoo: bar\ndata: a\n\n", [{ id: "", event: "", data: "a" }]],
  ])("reads %s", (_, text, events) => {
    expect(parse(text)).toEqual(events);
  });

  it("reads the same events from any pieces", () => {
    const line = fc.constantFrom("id: 1", "event: token", "data: é→😀", "data: b", ": c", "", "");
    const lineBreak = fc.constantFrom("\n", "\r\n", "\r");
    const text = fc.array(fc.tuple(line, lineBreak), { maxLength: 30 }).map((parts) => parts.flat().join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 20 }), (whole, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        const pieces = places.slice(1).map((end, index) => whole.slice(places[index], end));
        expect(parse(...pieces)).toEqual(parse(whole));
      }),
    );
  });
});

describe("readEvents()", () => {
  it("joins a character that is split between two pieces", async () => {
    const bytes = new TextEncoder().encode("data: 😀→é\n\n");
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const body = ReadableStream.from([bytes.slice(0, cut), bytes.slice(cut)]);
      expect(await collect(readEvents(body, 1_000))).toEqual([{ id: "", event: "", data: "😀→é" }]);
    }
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CompletionParts,
  ToolCallReader,
} from "../../../../../island-agent/runtimes/llmcpp/tools/tool-call-reader.ts";

function read(pieces: readonly string[], isEither = false) {
  const calls: { name: string; args: string }[] = [];
  let [text, tokens] = ["", 0];
  const parts: CompletionParts = {
    text: (more, count) => {
      text += more;
      tokens += count;
    },
    call: (name, count) => {
      calls.push({ name, args: "" });
      tokens += count;
    },
    arguments: (more, count) => {
      const call = calls.at(-1);
      if (call !== undefined) call.args += more;
      tokens += count;
    },
  };
  const reader = new ToolCallReader(parts, isEither);
  for (const piece of pieces) reader.push(piece, 1);
  reader.end();
  return { text, calls, tokens, isInCall: reader.isInCall };
}

const callText = (name: string, args: string): string =>
  `<tool_call>\n{\n"name": "${name}", "arguments": ${args}\n}\n</tool_call>`;

describe("ToolCallReader", () => {
  it("separates text and calls, wherever the completion is split", () => {
    const args = fc.dictionary(
      fc.string(),
      fc.oneof(fc.string(), fc.constant('</tool_call>{"}'), fc.array(fc.integer())),
    );
    const completions = fc.record({
      text: fc.constantFrom("", "Hi. ", "a <tool", "1 < 2 <tool_cal> ", "<t"),
      calls: fc.array(fc.record({ name: fc.constantFrom("a", "get_weather"), args }), { maxLength: 3 }),
      cuts: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
    });
    fc.assert(
      fc.property(completions, ({ text, calls, cuts }) => {
        const written = calls.map(({ name, args: value }) => ({ name, args: JSON.stringify(value, null, 1) }));
        const whole = text + written.map(({ name, args: json }) => callText(name, json)).join("\n");
        const pieces: string[] = [];
        for (let at = 0, nth = 0; at < whole.length; nth += 1) {
          const length = cuts[nth % cuts.length] ?? 1;
          pieces.push(whole.slice(at, at + length));
          at += length;
        }
        const result = read(pieces);
        expect(result).toMatchObject({ text, calls: written, isInCall: false });
        expect(result.tokens).toBeLessThanOrEqual(pieces.length);
      }),
    );
  });

  it("reads marks inside JSON as text if the completion is JSON or calls", () => {
    const json = JSON.stringify({ said: "<tool_call>\n{}</tool_call>" });
    for (const pieces of [[json], Array.from(json), [" ", json], [json.slice(0, 12), json.slice(12)]]) {
      expect(read(pieces, true)).toMatchObject({ text: pieces.join(""), calls: [], isInCall: false });
    }
    const call = callText("a", "{}");
    expect(read(Array.from(call), true)).toMatchObject({ text: "", calls: [{ name: "a", args: "{}" }] });
  });

  it("detects a completion that ended within a call", () => {
    expect(read(["<tool_call>\n", '{"name":"a",'])).toMatchObject({ calls: [], isInCall: true });
    expect(read(["<tool_call>\n", '{"name":"a","arguments":{"b":']).calls).toEqual([{ name: "a", args: '{"b":' }]);
  });
});

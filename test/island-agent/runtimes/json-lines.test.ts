import { describe, expect, it } from "vitest";
import { JsonLineReader, type JsonLineLimits } from "../../../island-agent/runtimes/json-lines.ts";
import type { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Reads `pieces` one after the other, and then the end. */
function read(pieces: readonly (string | Uint8Array)[], limits: Partial<JsonLineLimits> = {}) {
  const items: OutputItem[] = [];
  const reader = new JsonLineReader((item) => items.push(item), limits);
  let failure: JobFailure | undefined;
  try {
    for (const piece of pieces) reader.push(typeof piece === "string" ? utf8(piece) : piece);
    reader.end();
  } catch (error) {
    failure = error as JobFailure;
  }
  return { items, finalLine: reader.finalLine, tokens: reader.tokens, failure };
}

const TALK = [
  '{"type":"token","content":"Grüße "}',
  '{"type":"token","content":"🏝\\n"}',
  '{"type":"progress","step":1,"total":2}',
  '{"type":"image","format":"png","data":"iVBORw=="}',
  '{"type":"done","output":{"ok":true}}',
].join("\n");
const ITEMS = [
  { type: "token", content: "Grüße ", count: 1 },
  { type: "token", content: "🏝\n", count: 1 },
  { type: "progress", step: 1, total: 2 },
  { type: "image", format: "png", data: "iVBORw==" },
];

describe("JsonLineReader", () => {
  it("delivers items in order, and the output of `done`", () => {
    const { items, finalLine, tokens, failure } = read([`${TALK}\n`]);
    expect(failure).toBeUndefined();
    expect(items).toEqual(ITEMS);
    expect(finalLine).toEqual({ kind: "done", output: { ok: true } });
    expect(tokens).toBe(2);
  });

  it("reads the same items wherever the bytes are split, even within a character", () => {
    const bytes = utf8(TALK);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const { items, finalLine } = read([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect({ cut, items, last: finalLine?.kind }).toEqual({ cut, items: ITEMS, last: "done" });
    }
    expect(read([...bytes].map((byte) => Uint8Array.of(byte))).items).toEqual(ITEMS);
  });

  it.each([
    ["Uint8Array", utf8],
    ["Buffer", (text: string) => Buffer.from(text)],
  ])("keeps an unfinished line when its %s is reused", (_, bytesOf) => {
    const items: OutputItem[] = [];
    const reader = new JsonLineReader((item) => items.push(item));
    const buffer = bytesOf('{"type":"token",');
    reader.push(buffer);
    buffer.fill(0);
    reader.push(utf8('"content":"a"}\n'));
    expect(items).toEqual([{ type: "token", content: "a", count: 1 }]);
  });

  it("delivers an item before it reads an invalid next line", () => {
    const { items, failure } = read(['{"type":"token","content":"a"}\nnonsense\n']);
    expect(items).toHaveLength(1);
    expect(failure).toMatchObject({ code: "cargo_failed", retryable: false });
    expect(failure?.message).toContain("line 2 of its output is not JSON");
  });

  it("skips empty lines and accepts CRLF", () => {
    expect(read(['\n  \n{"type":"done"}\r\n']).finalLine).toEqual({ kind: "done" });
  });

  it("accepts a last line without a newline", () => {
    expect(read(['{"type":"done","output":null}']).finalLine).toEqual({ kind: "done", output: null });
  });

  it("has no final line when the output ends without one", () => {
    expect(read(['{"type":"token","content":"a"}\n'])).toMatchObject({ finalLine: null, failure: undefined });
  });

  it("ignores lines after the final line", () => {
    const { items, finalLine, failure } = read([
      '{"type":"done","output":1}\n{"type":"token","content":"a"}\nx',
      "y\n",
    ]);
    expect({ items, finalLine, failure }).toEqual({
      items: [],
      finalLine: { kind: "done", output: 1 },
      failure: undefined,
    });
  });

  it("uses the message of an `error` line as the failure, truncated to 1,000 characters", () => {
    const { finalLine } = read([`{"type":"error","message":"no such page${"!".repeat(5_000)}"}\n`]);
    expect(finalLine).toMatchObject({ kind: "error", failure: { code: "cargo_failed", retryable: false } });
    const message = finalLine?.kind === "error" ? finalLine.failure.message : "";
    expect(message).toMatch(/^no such page!+$/);
    expect(message).toHaveLength(1_000);
  });

  it("uses a default message for an empty `error` line", () => {
    const { finalLine } = read(['{"type":"error","message":""}\n']);
    expect(finalLine).toMatchObject({ failure: { message: "The Cargo's program failed" } });
  });

  it("replaces half of a surrogate pair in a token", () => {
    expect(read(['{"type":"token","content":"a\\ud83c"}\n']).items).toMatchObject([{ content: "a\ufffd" }]);
  });

  it.each([
    ["not JSON", "secret words", "is not JSON"],
    ["a number", "42", "is not an object"],
    ["null", "null", "is not an object"],
    ["a list", '["secret words"]', "is not an object"],
    ["no type", '{"content":"secret words"}', 'has an invalid "type"'],
    ["an unknown type", '{"type":"secret words"}', 'has an invalid "type"'],
    ["a token without content", '{"type":"token"}', 'has an invalid "content"'],
    ["a token of a million characters", `{"type":"token","content":"${"a".repeat(1_000_001)}"}`, '"content"'],
    ["half a step", '{"type":"progress","step":0.5,"total":2}', 'has an invalid "step"'],
    ["a step back", '{"type":"progress","step":1,"total":-2}', 'has an invalid "total"'],
    ["a picture that is not base64", '{"type":"image","format":"png","data":"secret words"}', 'has an invalid "data"'],
    ["a picture cut short", '{"type":"image","format":"png","data":"iVBORw="}', 'has an invalid "data"'],
    ["an odd format", '{"type":"image","format":"image/../png","data":"iVBORw=="}', 'has an invalid "format"'],
    ["an error without words", '{"type":"error","message":7}', 'has an invalid "message"'],
    ["an infinite number", '{"type":"done","output":1e999}', "too large"],
    ["a deep output", `{"type":"done","output":${"[".repeat(200)}${"]".repeat(200)}}`, "nested too deeply"],
    [
      "a very deep output",
      `{"type":"done","output":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      "nested too deeply",
    ],
  ])("refuses %s without quoting it", (_, line, fault) => {
    const { failure, items, finalLine } = read([`${line}\n`]);
    expect(failure).toMatchObject({ name: "JobFailure", code: "cargo_failed", retryable: false });
    expect(failure?.message).toContain(fault);
    expect(failure?.message).toContain("line 1 of its output");
    expect(failure?.message).not.toContain("secret");
    expect(failure?.cause).toBeUndefined();
    expect({ items, finalLine }).toEqual({ items: [], finalLine: null });
  });

  it("refuses bytes that are not UTF-8", () => {
    const { failure } = read([Uint8Array.of(0x22, 0xff, 0x22, 0x0a)]);
    expect(failure).toMatchObject({ code: "cargo_failed" });
    expect(failure?.message).toContain("is not UTF-8");
  });

  it("refuses a line above the limit before it ends, and accepts one at the limit", () => {
    const line = '{"type":"progress","step":1,"total":2}';
    const limits = { lineBytes: line.length };
    expect(read([`${line}\n${line}\n`], limits)).toMatchObject({
      items: [{ step: 1 }, { step: 1 }],
      failure: undefined,
    });
    const { failure } = read([line, " "], limits);
    expect(failure).toMatchObject({ code: "output_too_large", retryable: false });
    expect(failure?.message).toContain(`line 1 of its output exceeds ${line.length} bytes`);
  });

  it("refuses many short lines that exceed the total limit", () => {
    const { failure, items } = read(Array<string>(100).fill('{"type":"progress","step":1,"total":2}\n\n'), {
      totalBytes: 1_000,
    });
    expect(items).toHaveLength(25);
    expect(failure).toMatchObject({ code: "output_too_large", retryable: false });
    expect(failure?.message).toContain("its output exceeds 1000 bytes");
  });
});

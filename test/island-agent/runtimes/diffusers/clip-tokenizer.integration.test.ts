import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openClipTokenizer } from "../../../../island-agent/runtimes/diffusers/clip-tokenizer.ts";

const FOLDER = path.resolve(import.meta.dirname, "../../../fixtures/diffusers/tiny-sd/tokenizer");
const read = (name: string): string => readFileSync(path.join(FOLDER, name), "utf8");
const config = JSON.parse(read("tokenizer_config.json")) as Record<string, unknown>;
const vocab = JSON.parse(read("vocab.json")) as Record<string, number>;
const files = { config, json: null, vocab, merges: read("merges.txt") };
const tokenize = openClipTokenizer(files);
const names = new Map(Object.entries(vocab).map(([name, id]) => [id, name]));
/** Returns the tokens between start and end. */
const textOf = (prompt: string): (string | undefined)[] => {
  const { ids, textTokens } = tokenize(prompt);
  return ids.slice(1, 1 + textTokens).map((id) => names.get(id));
};

describe("openClipTokenizer() with vocab.json and merges.txt", () => {
  it("returns 77 tokens, which are start, text, end and padding", () => {
    const { ids, textTokens } = tokenize("a red picture");
    const [start, end] = [vocab["<|startoftext|>"], vocab["<|endoftext|>"]];
    expect(textTokens).toBe(3);
    const text = [vocab["a</w>"], vocab["red</w>"], vocab["picture</w>"]];
    expect(ids).toEqual([start, ...text, end, ...Array(72).fill(end)]);
    expect(text).not.toContain(undefined);
  });

  it("pads with the configured token", () => {
    const padded = openClipTokenizer({ ...files, config: { ...config, pad_token: { content: "!" } } });
    expect(padded("red").ids.slice(2, 5)).toEqual([vocab["<|endoftext|>"], vocab["!"], vocab["!"]]);
  });

  it.each([
    ["A  RED\n\tpicture ", ["a</w>", "red</w>", "picture</w>"]],
    ["red,blue!", ["red</w>", ",</w>", "blue</w>", "!</w>"]],
    ["red 42", ["red</w>", "4</w>", "2</w>"]],
    ["it's", ["i", "t</w>", "'", "s</w>"]],
    // The character has the UTF-8 bytes C3 A9. Byte pairs are merged only within a word.
    ["\u00e9", ["\u00c3", "\u00a9</w>"]],
    ["e\u0301", ["\u00c3", "\u00a9</w>"]],
    ["", []],
  ])("splits %j as CLIP does", (prompt, expected) => {
    expect(textOf(prompt)).toEqual(expected);
  });

  it("truncates a long prompt, but keeps its end token", () => {
    const { ids, textTokens } = tokenize("red ".repeat(200));
    expect([ids.length, textTokens]).toEqual([77, 75]);
    expect(ids.slice(-2)).toEqual([vocab["red</w>"], vocab["<|endoftext|>"]]);
  });

  it("refuses files without start and end tokens", () => {
    expect(() => openClipTokenizer({ ...files, config: {} })).toThrow("start or end token");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLongJson } from "../../../../coordinator/http/middleware/parse-long-json.ts";

const parse = (text: string, pieceBytes = 1) => parseLongJson(Buffer.from(text), undefined, pieceBytes);

/** Returns the value or the error of a parser. */
async function outcomeOf(run: () => unknown): Promise<unknown> {
  try {
    return { value: await run() };
  } catch (error) {
    return { error: String(error) };
  }
}

async function expectSame(text: string, pieceBytes: number): Promise<void> {
  expect(await outcomeOf(() => parse(text, pieceBytes))).toEqual(await outcomeOf(() => JSON.parse(text)));
}

describe("parseLongJson()", () => {
  it.each([
    '{"a":[1,2,3]}',
    '{"a":[{"b":[1,2]},[3,4],"é,]\\"\\\\"],"c":{"d":[1,2]}}',
    "[[1,2],[3,4],5]",
    '{"a":[1,2],"a":[3,4]}',
    '{"a":[1,2],"a":5}',
    '{"__proto__":[1,2],"b":[3,4]}',
    ' { "a" : [ 1 , 2 ] } ',
    "[]",
    "null",
    '"text"',
    // Not valid
    "",
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1,,2]}',
    '{"a":[ ,]}',
    '{"a":[1,2}}',
    '{"a":[1,{"b":2],3]}',
    '{"a":[1,x],"a":[3,4]}',
    '{"a":[1,2]',
    '{"a":[1,2]}]',
    '{"a":["1,2]}',
    '{"a":[1 2,3]}',
    '{"w":1,[1,2]:3}',
    '{"w":1,["a","b"]:[1,2]}',
  ])("returns the same as JSON.parse for %s", (text) => expectSame(text, 1));

  it("returns the same as JSON.parse for any text", async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const lists = fc.dictionary(fc.string(), fc.oneof(fc.array(value), value));
    const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom("", ",", "[", "]", "{", "}", '"', "\\", " ", "1")), {
      maxLength: 2,
    });
    const texts = fc.tuple(lists, damage, fc.integer({ min: 1, max: 12 }));
    await fc.assert(
      fc.asyncProperty(texts, async ([given, damages, pieceBytes]) => {
        let text = JSON.stringify(given);
        for (const [position, character] of damages) {
          const at = position % text.length;
          text = text.slice(0, at) + character + text.slice(at + 1);
        }
        await expectSame(text, pieceBytes);
      }),
      { numRuns: 2_000 },
    );
  });

  it("gives each piece of a long array its own turn", async () => {
    const turns: number[] = [];
    let turn = 0;
    const count = (): void => {
      turn += 1;
      if (turns.length < 4) setImmediate(count);
    };
    setImmediate(count);
    const items = ["a", "b", "c", "d"];
    const parsed = parseLongJson(Buffer.from(JSON.stringify({ items })), (item) => turns.push(turn) && item, 1);
    expect(await parsed).toEqual({ items });
    expect(new Set(turns).size).toBe(4);
  });

  it("maps the items of long arrays", async () => {
    const map = (item: unknown, member: string, index: number) => [item, member, index];
    expect(await parseLongJson(Buffer.from('{"a":["x","y"],"b":["z"]}'), map, 1)).toEqual({
      a: [
        ["x", "a", 0],
        ["y", "a", 1],
      ],
      b: ["z"],
    });
  });
});

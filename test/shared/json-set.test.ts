import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonSetOf } from "../../shared/json-set.ts";

const json = fc.jsonValue({ maxDepth: 3 });

/** Reverses the order of all members of objects. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, each]) => [name, turned(each)]),
  );
}

/** -0 is the same JSON value as 0. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("jsonSetOf()", () => {
  it("contains exactly the values that deeply equal a member", () => {
    fc.assert(
      fc.property(fc.array(json), json, (members, value) => {
        const isMember = members.some((member) => isDeepStrictEqual(plain(member), plain(value)));
        expect(jsonSetOf(members).has(value)).toBe(isMember);
      }),
    );
  });

  it("contains each member, whatever the order of its members", () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 1 }), (members) => {
        const set = jsonSetOf(members);
        for (const member of members) expect([set.has(member), set.has(turned(member))]).toEqual([true, true]);
      }),
    );
  });

  it("does not read a list or object that is longer than all members", () => {
    const unread = Array.from({ length: 10 }, () => 0);
    Object.defineProperty(unread, 0, {
      get: () => {
        throw new Error("read");
      },
    });
    expect(jsonSetOf([[1, 2], { a: 1 }]).has(unread)).toBe(false);
  });

  it("does not contain a value that is nested deeper than the stack", () => {
    let deep: unknown = [];
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(jsonSetOf([["x".repeat(1_000_000)]]).has(deep)).toBe(false);
  });
});

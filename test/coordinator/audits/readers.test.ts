import { describe, expect, it } from "vitest";
import { findReaders } from "../../../coordinator/audits/readers.ts";
import type { CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import { NEW_STANDING, type StandingState } from "../../../coordinator/credits/standing.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeCargo, makeIsland } from "../scheduler/builders.ts";

type Replies = NonNullable<Awaited<ReturnType<Parameters<typeof findReaders>[3]>>>;

const CARGO = makeCargo() as CatalogEntry;
const NONE: ReadonlySet<string> = new Set();

/** Finds readers among the owners of connected Islands. The test replies to each request to other coordinators. */
function makeReaders(
  owners: readonly string[],
  { isAlone = false, states = {} }: { isAlone?: boolean; states?: Readonly<Record<string, StandingState>> } = {},
) {
  const clock = new ManualClock();
  const asked: ((replies: Replies) => void)[] = [];
  const connected = () =>
    owners.map((accountId) => ({ facts: makeIsland({ accountId, features: ["chat.read"] }) })) as never;
  const standings = { of: (id: string) => ({ ...NEW_STANDING, state: states[id] ?? "new" }) };
  const askOthers = () => (isAlone ? null : new Promise<Replies>((resolve) => void asked.push(resolve)));
  const readers = findReaders(clock, { connected, factsOf: () => [] }, standings, askOthers, () => 0.999);
  const reply = async (replies: Readonly<Record<string, readonly string[] | undefined>>): Promise<void> => {
    asked.shift()?.(Object.entries(replies).map(([id, each]) => ({ id, reply: each })));
    await Promise.resolve();
  };
  return { readers, clock, asked, reply };
}

describe("findReaders()", () => {
  it("finds only connected owners if there is no other coordinator", async () => {
    const { readers } = makeReaders(["a", "b"], { isAlone: true });
    expect(readers.exists(CARGO, new Set(["a"]), false)).toBe(true);
    expect(readers.exists(CARGO, new Set(["a", "b"]), false)).toBe(false);
    expect(await readers.choose(CARGO, new Set(["a"]), false)).toBe("b");
    expect(await readers.choose(CARGO, new Set(["a", "b"]), false)).toBeUndefined();
  });

  it("does not ask other coordinators whether an owner can read while one is connected here", () => {
    const { readers, asked } = makeReaders(["a"]);
    expect([readers.exists(CARGO, NONE, false), asked]).toEqual([true, []]);
  });

  it("assumes that an owner can read until the other coordinators have replied", async () => {
    const { readers, reply } = makeReaders([]);
    expect(readers.exists(CARGO, NONE, false)).toBe(true);
    await reply({ c2: [], c3: undefined });
    expect(readers.exists(CARGO, NONE, false)).toBe(false);
  });

  it("finds owners at other coordinators, except the excluded ones", async () => {
    const { readers, reply } = makeReaders(["a"]);
    const chosen = readers.choose(CARGO, new Set(["a"]), false);
    await reply({ c2: ["a", "b"], c3: [] });
    expect(await chosen).toBe("b");
    expect(readers.exists(CARGO, new Set(["a"]), false)).toBe(true);
    expect(readers.exists(CARGO, new Set(["a", "b"]), false)).toBe(false);
  });

  it("prefers proven owners, wherever they are connected", async () => {
    const { readers, reply } = makeReaders(["a", "b"], { states: { c: "proven" } });
    const chosen = readers.choose(CARGO, NONE, false);
    await reply({ c2: ["c"] });
    expect(await chosen).toBe("c");
  });

  it("finds no new owner for a job that only proven owners may see", async () => {
    const { readers } = makeReaders(["a", "b"], { isAlone: true, states: { a: "proven" } });
    expect(readers.exists(CARGO, NONE, true)).toBe(true);
    expect(readers.exists(CARGO, new Set(["a"]), true)).toBe(false);
    expect(await readers.choose(CARGO, NONE, true)).toBe("a");
    expect(await readers.choose(CARGO, new Set(["a"]), true)).toBeUndefined();
  });

  it("asks for a Cargo once a second, and uses the earlier replies in between", async () => {
    const { readers, clock, asked, reply } = makeReaders([]);
    readers.exists(CARGO, NONE, false);
    await reply({ c2: ["a"] });
    for (let count = 0; count < 10; count += 1) readers.exists(CARGO, NONE, false);
    expect(asked).toEqual([]);
    clock.advance(1_000);
    expect([readers.exists(CARGO, NONE, false), asked.length]).toEqual([true, 1]);
    await reply({ c2: [] });
    expect(readers.exists(CARGO, NONE, false)).toBe(false);
  });

  it("keeps the owners of a coordinator that no longer replies while it is among the live ones", async () => {
    const { readers, clock, reply } = makeReaders([]);
    readers.exists(CARGO, NONE, false);
    await reply({ c2: ["a"] });
    clock.advance(1_000);
    readers.exists(CARGO, NONE, false);
    await reply({ c2: undefined });
    expect(readers.exists(CARGO, NONE, false)).toBe(true);
    clock.advance(1_000);
    readers.exists(CARGO, NONE, false);
    await reply({ c3: [] });
    expect(readers.exists(CARGO, NONE, false)).toBe(false);
  });

  it("names proven owners first to other coordinators, and no quarantined ones", () => {
    const states = { b: "quarantined", c: "proven", d: "trusted" } as const;
    const { readers } = makeReaders(["a", "b", "c", "d"], { states });
    expect(readers.here(CARGO)).toEqual(["c", "d", "a"]);
  });
});

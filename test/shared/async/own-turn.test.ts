import { describe, expect, it } from "vitest";
import { mapInTurns, ownTurn, TURN_CHARS } from "../../../shared/async/own-turn.ts";

describe("ownTurn()", () => {
  it("lets one of several callers continue in a turn, in order", async () => {
    let turn = 0;
    const count = (): void => {
      turn += 1;
      if (turn < 10) setImmediate(count);
    };
    setImmediate(count);
    const order: string[] = [];
    const turns = new Set<number>();
    const note = async (name: string): Promise<void> => {
      await ownTurn();
      order.push(name);
      turns.add(turn);
    };
    await Promise.all(["a", "b", "c"].map(note));
    expect(order).toEqual(["a", "b", "c"]);
    expect(turns.size).toBe(3);
  });
});

describe("mapInTurns()", () => {
  const half = () => TURN_CHARS / 2;

  it("maps small items in one turn", async () => {
    let turns = 0;
    setImmediate(() => (turns += 1));
    expect(
      await mapInTurns(
        [1, 2, 3],
        () => 1,
        (item) => [item, turns],
      ),
    ).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
  });

  it("gives each piece of much work its own turn, and waits for promises", async () => {
    let turn = 0;
    const count = (): void => {
      turn += 1;
      if (turn < 10) setImmediate(count);
    };
    setImmediate(count);
    const map = (item: number, index: number) => Promise.resolve([item, index, turn]);
    expect(await mapInTurns([5, 6, 7], half, map)).toEqual([
      [5, 0, 1],
      [6, 1, 1],
      [7, 2, 2],
    ]);
  });
});

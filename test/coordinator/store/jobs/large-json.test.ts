import { expect, it } from "vitest";
import { LargeJson } from "../../../../coordinator/store/jobs/large-json.ts";

const PIECES = 50;

it("LargeJson.pieces() yields to other work after each piece, however fast it is read", async () => {
  const value = new LargeJson(PIECES, async () => "x");
  let ticks = 0;
  const countTurn = (): NodeJS.Immediate =>
    setImmediate(() => {
      ticks += 1;
      turning = countTurn();
    });
  let turning = countTurn();
  let text = "";
  for await (const piece of value.pieces()) text += piece;
  clearImmediate(turning);
  expect(text).toBe("x".repeat(PIECES));
  expect(ticks).toBeGreaterThanOrEqual(PIECES - 1);
});

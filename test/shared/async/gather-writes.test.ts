import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { gatherWrites } from "../../../shared/async/gather-writes.ts";

/** Counts what would be system calls. */
class CountedWrites extends Writable {
  readonly writes: string[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(chunk.toString());
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(chunks.map(({ chunk }) => chunk.toString()).join(""));
    done();
  }

  send(text: string, until: "callback" | "tick" = "callback"): void {
    gatherWrites(this, until);
    this.write(text);
  }
}

const endOfTurn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

it("writes once for everything of a turn, in order, and at its end", async () => {
  const stream = new CountedWrites();
  for (const text of ["a", "b", "c"]) stream.send(text);
  expect(stream.writes).toEqual([]);
  await endOfTurn();
  expect(stream.writes).toEqual(["abc"]);
  stream.send("d");
  await endOfTurn();
  expect(stream.writes).toEqual(["abc", "d"]);
});

it("writes once for what a turn caused in later callbacks", async () => {
  const stream = new CountedWrites();
  stream.send("a", "tick");
  await endOfTurn();
  await Promise.resolve();
  stream.send("b", "tick");
  expect(stream.writes).toEqual([]);
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(stream.writes).toEqual(["ab"]);
});

it("leaves a stream alone that its owner has corked", async () => {
  const stream = new CountedWrites();
  stream.cork();
  stream.send("a");
  await endOfTurn();
  expect(stream.writes).toEqual([]);
  stream.uncork();
  expect(stream.writes).toEqual(["a"]);
});

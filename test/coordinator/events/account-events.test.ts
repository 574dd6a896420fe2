import { describe, expect, it } from "vitest";
import { AccountEvents, GATHER_MS } from "../../../coordinator/events/account-events.ts";
import { MAX_ENTRIES } from "../../../coordinator/events/journal.ts";
import { parsePosition } from "../../../coordinator/events/position.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeIslandChange, makeJobChange, readAll } from "./event-builders.ts";

const ACCOUNT = "user_1";
const KEEP_MS = 60_000;

async function open(selfId = "coord_1") {
  const clock = new ManualClock();
  const events = new AccountEvents({ selfId, clock });
  let calls = 0;
  const reader = await events.open(ACCOUNT, null, () => (calls += 1));
  const note = (id: string, state: "pending" | "running" | "completed" = "running"): void =>
    events.note(ACCOUNT, makeJobChange(id, clock.now(), { state }));
  return { clock, events, reader, note, calls: () => calls };
}

describe("AccountEvents", () => {
  it("gathers changes, and tells the last state of each thing once", async () => {
    const { clock, reader, note, calls } = await open();
    note("a", "pending");
    note("b", "pending");
    note("a", "running");
    expect([readAll(reader), calls()]).toEqual([[], 0]);
    clock.advance(GATHER_MS);
    expect([readAll(reader), calls()]).toEqual([["a running", "b pending"], 1]);
    note("a", "completed");
    clock.advance(GATHER_MS);
    expect([readAll(reader), calls()]).toEqual([["a completed"], 2]);
  });

  it("does nothing for an account without listeners: no timer, no memory", () => {
    const clock = new ManualClock();
    const events = new AccountEvents({ selfId: "coord_1", clock });
    expect(events.isWatched(ACCOUNT)).toBe(false);
    events.note(ACCOUNT, makeJobChange("a", clock.now()));
    expect([clock.pendingTimers, events.isWatched(ACCOUNT)]).toEqual([0, false]);
  });

  it("continues after a position, for a minute after the last reader left", async () => {
    const { clock, events, reader, note } = await open();
    note("a");
    clock.advance(GATHER_MS);
    readAll(reader);
    const { position } = reader;
    reader.close();
    note("b");
    note("a", "completed");
    clock.advance(GATHER_MS);
    const again = await events.open(ACCOUNT, parsePosition(position), () => undefined);
    expect(readAll(again)).toEqual(["b running", "a completed"]);
    again.close();
    clock.advance(2 * KEEP_MS);
    expect([events.isWatched(ACCOUNT), clock.pendingTimers]).toEqual([false, 0]);
    const late = await events.open(ACCOUNT, parsePosition(position), () => undefined);
    expect(readAll(late)).toEqual(["reset"]);
    late.close();
  });

  it("says reset to who comes after a minute, also when nothing was told to anybody meanwhile", async () => {
    const { clock, events, reader, note } = await open();
    note("a");
    clock.advance(GATHER_MS);
    readAll(reader);
    reader.close();
    clock.advance(2 * KEEP_MS);
    // Nobody is there to hear of it.
    note("a", "completed");
    const late = await events.open(ACCOUNT, parsePosition(reader.position), () => undefined);
    expect(readAll(late)).toEqual(["reset"]);
  });

  it("knows the position of each event that a reader got, also in the middle of what it missed", async () => {
    const { clock, events, reader, note } = await open();
    for (const id of ["a", "b", "c"]) note(id);
    clock.advance(GATHER_MS);
    const [first, second] = reader.take(2);
    for (const [from, rest] of [
      [first, ["b running", "c running"]],
      [second, ["c running"]],
    ] as const) {
      const again = await events.open(ACCOUNT, parsePosition(from?.position ?? ""), () => undefined);
      const [next] = again.take(1);
      expect(next?.position).not.toBe(from?.position);
      const rereader = await events.open(ACCOUNT, parsePosition(from?.position ?? ""), () => undefined);
      expect(readAll(rereader)).toEqual(rest);
    }
  });

  it("tells who comes with a position of an earlier start, or with nonsense, that it may have missed something", async () => {
    const earlier = await open("coord_0");
    const { clock, events, note } = await open();
    for (const position of [earlier.reader.position, "", "x", "coord_1-9", "coord_1-0.coord_2-0"]) {
      const reader = await events.open(ACCOUNT, parsePosition(position), () => undefined);
      expect([position, readAll(reader)]).toEqual([position, ["reset"]]);
      note("a");
      clock.advance(GATHER_MS);
      expect(readAll(reader)).toEqual(["a running"]);
    }
  });

  it("bounds what it keeps for a reader that does not read: it hears that it missed something, or only last states", async () => {
    const { clock, reader, note } = await open();
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 400; i += 1) note(`job ${i}`);
      clock.advance(GATHER_MS);
    }
    expect(readAll(reader)).toHaveLength(400);
    for (let round = 0; round * 400 <= MAX_ENTRIES; round += 1) {
      for (let i = 0; i < 400; i += 1) note(`job ${round} ${i}`);
      clock.advance(GATHER_MS);
    }
    expect(readAll(reader)).toEqual(["reset"]);
    note("a");
    clock.advance(KEEP_MS);
    clock.advance(KEEP_MS);
    expect(readAll(reader)).toEqual(["reset"]);
  });

  it("tells of a flood as one reset, and of the next one no sooner than two seconds later", async () => {
    const { clock, reader, note } = await open();
    const flood = (round: number): void => {
      for (let i = 0; i <= 500; i += 1) note(`job ${round} ${i}`);
    };
    flood(0);
    clock.advance(GATHER_MS);
    expect(readAll(reader)).toEqual(["reset"]);
    flood(1);
    clock.advance(1_000);
    expect(readAll(reader)).toEqual([]);
    clock.advance(1_500);
    expect(readAll(reader)).toEqual(["reset"]);
  });

  it("tells of Islands at most once a second, and of jobs meanwhile", async () => {
    const { clock, events, reader, note } = await open();
    events.note(ACCOUNT, makeIslandChange("garage", clock));
    clock.advance(GATHER_MS);
    expect(readAll(reader)).toEqual(["garage"]);
    events.note(ACCOUNT, makeIslandChange("attic", clock));
    note("a");
    clock.advance(GATHER_MS);
    expect(readAll(reader)).toEqual(["a running"]);
    clock.advance(1_000);
    expect(readAll(reader)).toEqual(["attic"]);
  });

  it("tells what happened last, also when the clock was set back in between", async () => {
    const { clock, reader, note } = await open();
    note("a", "pending");
    clock.advance(GATHER_MS);
    clock.jump(-1_000);
    note("a", "running");
    clock.advance(GATHER_MS);
    expect(readAll(reader)).toEqual(["a running"]);
  });

  it("keeps accounts apart", async () => {
    const { clock, events, reader } = await open();
    const other = await events.open("user_2", null, () => undefined);
    events.note("user_2", makeJobChange("theirs", clock.now()));
    clock.advance(GATHER_MS);
    expect([readAll(reader), readAll(other)]).toEqual([[], ["theirs running"]]);
  });

  it("ends its readers when it is closed, and leaves no timer", async () => {
    const { clock, events, reader, note, calls } = await open();
    note("a");
    events.close();
    expect([reader.isEnded, calls(), clock.pendingTimers]).toEqual([true, 1, 0]);
    expect((await events.open("user_2", null, () => undefined)).isEnded).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });
});

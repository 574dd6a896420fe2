import { describe, expect, it } from "vitest";
import { accountEvents, GATHER_MS } from "../../../coordinator/events/account-events.ts";
import { MAX_WAITING } from "../../../coordinator/events/change.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeIslandChange, makeJobChange, TestReader } from "./event-builders.ts";

const ACCOUNT = "user_1";

function open() {
  const clock = new ManualClock();
  const events = accountEvents(clock);
  const reader = new TestReader(events, ACCOUNT);
  const note = (id: string, state: "pending" | "running" | "completed" = "running"): void =>
    events.note(ACCOUNT, makeJobChange(id, clock.now(), { state }));
  return { clock, events, reader, note };
}

describe("accountEvents()", () => {
  it("merges changes, and sends the latest state of each entity once", () => {
    const { clock, reader, note } = open();
    note("a", "pending");
    note("b", "pending");
    note("a", "running");
    expect([reader.read(), reader.calls]).toEqual([[], 0]);
    clock.advance(GATHER_MS);
    expect([reader.read(), reader.calls]).toEqual([["b pending", "a running"], 1]);
    note("a", "completed");
    clock.advance(GATHER_MS);
    expect([reader.read(), reader.calls]).toEqual([["a completed"], 2]);
  });

  it("sets no timer and keeps nothing for an account without listeners", () => {
    const clock = new ManualClock();
    const events = accountEvents(clock);
    expect([events.isWatched(ACCOUNT), events.hasListeners]).toEqual([false, false]);
    events.note(ACCOUNT, makeJobChange("a", clock.now()));
    expect([clock.pendingTimers, events.isWatched(ACCOUNT)]).toEqual([0, false]);
  });

  it("keeps nothing for an account after its last listener left", () => {
    const { clock, events, reader, note } = open();
    note("a");
    reader.close();
    expect([events.isWatched(ACCOUNT), events.hasListeners]).toEqual([false, false]);
    const next = new TestReader(events, ACCOUNT);
    clock.advance(GATHER_MS);
    expect([reader.read(), next.read(), clock.pendingTimers]).toEqual([[], [], 0]);
  });

  it("sends one reset for changes that a reader did not read in time, then continues", () => {
    const { clock, reader, note } = open();
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 400; i += 1) note(`job ${i}`);
      clock.advance(GATHER_MS);
    }
    expect(reader.read()).toHaveLength(400);
    for (let round = 0; round < 4; round += 1) {
      for (let i = 0; i < 400; i += 1) note(`job ${round} ${i}`);
      clock.advance(GATHER_MS);
    }
    expect(reader.read()).toEqual(["reset"]);
    note("a");
    clock.advance(GATHER_MS);
    expect(reader.read()).toEqual(["a running"]);
  });

  it("sends a flood as one reset, and the next one no sooner than two seconds later", () => {
    const { clock, reader, note } = open();
    const flood = (round: number): void => {
      for (let i = 0; i <= MAX_WAITING; i += 1) note(`job ${round} ${i}`);
    };
    flood(0);
    clock.advance(GATHER_MS);
    expect(reader.read()).toEqual(["reset"]);
    flood(1);
    clock.advance(1_000);
    expect(reader.read()).toEqual([]);
    clock.advance(1_500);
    expect(reader.read()).toEqual(["reset"]);
  });

  it("sends Islands at most once a second, and jobs in between", () => {
    const { clock, events, reader, note } = open();
    events.note(ACCOUNT, makeIslandChange("garage"));
    clock.advance(GATHER_MS);
    expect(reader.read()).toEqual(["garage"]);
    events.note(ACCOUNT, makeIslandChange("attic"));
    note("a");
    clock.advance(GATHER_MS);
    expect(reader.read()).toEqual(["a running"]);
    clock.advance(1_000);
    expect(reader.read()).toEqual(["attic"]);
  });

  it("sends the latest state even if the clock was set back in between", () => {
    const { clock, reader, note } = open();
    note("a", "pending");
    clock.advance(GATHER_MS);
    clock.jump(-1_000);
    note("a", "running");
    clock.advance(GATHER_MS);
    expect(reader.read()).toEqual(["a running"]);
  });

  it("drops the pending state of a job that moved to another coordinator", () => {
    const { clock, events, reader, note } = open();
    note("a");
    note("b");
    events.dropJob(ACCOUNT, "a");
    events.dropJob("user_2", "b");
    clock.advance(GATHER_MS);
    expect(reader.read()).toEqual(["b running"]);
  });

  it("keeps the changes of accounts separate", () => {
    const { clock, events, reader } = open();
    const other = new TestReader(events, "user_2");
    events.note("user_2", makeJobChange("theirs", clock.now()));
    clock.advance(GATHER_MS);
    expect([reader.read(), other.read()]).toEqual([[], ["theirs running"]]);
  });

  it("calls its listeners when it is closed, and leaves no timer", () => {
    const { clock, events, reader, note } = open();
    note("a");
    events.close();
    expect([events.closed.aborted, reader.calls, reader.read(), clock.pendingTimers]).toEqual([true, 1, [], 0]);
    note("a");
    expect(clock.pendingTimers).toBe(0);
  });
});

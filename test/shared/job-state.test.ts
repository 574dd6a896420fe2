import { describe, expect, it } from "vitest";
import {
  IllegalTransitionError,
  isTerminal,
  JOB_EVENTS,
  JOB_STATES,
  nextState,
  statesAllowing,
  type JobEvent,
  type JobState,
} from "../../shared/job-state.ts";

/** Every cell of the table, written by hand. "-" is an illegal move. */
const CELLS: Record<JobState, Record<JobEvent, JobState | "-">> = {
  pending: {
    assign: "queued",
    start: "-",
    complete: "-",
    fail: "failed",
    cancel: "cancelled",
    expire: "timeout",
    lose: "-",
    regain: "queued",
  },
  queued: {
    assign: "-",
    start: "running",
    complete: "-",
    fail: "failed",
    cancel: "cancelled",
    expire: "timeout",
    lose: "pending",
    regain: "-",
  },
  running: {
    assign: "-",
    start: "-",
    complete: "completed",
    fail: "failed",
    cancel: "cancelled",
    expire: "timeout",
    lose: "pending",
    regain: "-",
  },
  completed: { assign: "-", start: "-", complete: "-", fail: "-", cancel: "-", expire: "-", lose: "-", regain: "-" },
  failed: { assign: "-", start: "-", complete: "-", fail: "-", cancel: "-", expire: "-", lose: "-", regain: "-" },
  cancelled: { assign: "-", start: "-", complete: "-", fail: "-", cancel: "-", expire: "-", lose: "-", regain: "-" },
  timeout: { assign: "-", start: "-", complete: "-", fail: "-", cancel: "-", expire: "-", lose: "-", regain: "-" },
};

describe("nextState()", () => {
  for (const state of JOB_STATES) {
    for (const event of JOB_EVENTS) {
      const to = CELLS[state][event];
      it(`returns for ${state} + ${event}: ${to}`, () => {
        if (to === "-") expect(() => nextState(state, event)).toThrow(IllegalTransitionError);
        else expect(nextState(state, event)).toBe(to);
      });
    }
  }
});

describe("statesAllowing()", () => {
  it.each(JOB_EVENTS)("names exactly the states that allow %s", (event) => {
    expect(statesAllowing(event)).toEqual(JOB_STATES.filter((state) => CELLS[state][event] !== "-"));
  });
});

it("isTerminal() is true for the four end states", () => {
  expect(JOB_STATES.filter(isTerminal)).toEqual(["completed", "failed", "cancelled", "timeout"]);
});

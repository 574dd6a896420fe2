import { expect, it } from "vitest";
import { runScenario } from "./run-seed.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import type { RequestPlan } from "./simulated-client.ts";
import type { Step } from "./steps.ts";

/*
 * Shrunk histories of defects that the simulation found in the coordinator or in one of its checks. Each of them
 * violated a guarantee before its fix.
 */

const JOB: RequestPlan = {
  request: 0,
  accountId: "client-0",
  cargo: "text",
  tokens: 2,
  priority: 0,
  kind: "job",
  jobs: 1,
  failFast: false,
  isKeyed: false,
};
const commit: Step = { do: "commit" };
const up = (link: number): Step => ({ do: "up", link });
const down = (link: number): Step => ({ do: "down", link });
const dial = (island: number): Step => ({ do: "dial", island });
const work = (island: number, auditEvent: "token" | "finish" | "refuse" | "failFinally"): Step => ({
  do: "work",
  island,
  run: 0,
  auditEvent,
});
/** Island 0 has joined, and the assignment of the accepted job is in flight. */
const ASSIGNED: Step[] = [dial(0), up(0), { do: "submit", plan: JOB }, commit, commit, down(0), down(0)];

const SCENARIOS: Record<string, { readonly slots: readonly number[]; readonly steps: readonly Step[] }> = {
  "late frames of an ended attempt are acknowledged after the end is stored": {
    slots: [1],
    steps: [...ASSIGNED, commit, work(0, "token"), up(0), { do: "pass", ms: 31_000 }, up(0), up(0), up(0)],
  },
  "an Island that regains an attempt resends unacknowledged frames": {
    slots: [1],
    steps: [
      ...[...ASSIGNED, { do: "fillDisk" } as const, work(0, "finish"), up(0), up(0), up(0), up(0), up(0)],
      ...[{ do: "loseAtCoordinator", link: 0 } as const, { do: "loseAtIsland", link: 0 } as const],
      ...[{ do: "pass", ms: 16_000 } as const, { do: "freeDisk" } as const, dial(0)],
    ],
  },
  "an attempt is continued only once the output before it is stored": {
    slots: [1, 1],
    steps: [
      ...[...ASSIGNED, commit, dial(1), up(1), commit, down(1), work(0, "token"), work(0, "refuse")],
      ...[up(0), up(0), up(0), up(0), up(0), down(1)],
      ...[{ do: "crash", during: null, microtasks: 0, isBlackout: false } as const, { do: "start" } as const],
    ],
  },
  "an Island earns for delivered output, even after a restart and if another Island has the job": {
    slots: [1, 1],
    steps: [
      ...[...ASSIGNED, commit, work(0, "token"), up(0), up(0), up(0), up(0), commit, commit],
      ...[{ do: "crash", during: null, microtasks: 0, isBlackout: true } as const, { do: "start" } as const],
      ...[dial(1), up(1), commit, down(1), { do: "pass", ms: 46_000 } as const, commit, commit],
      { do: "cancel", request: 0, nth: null } as const,
    ],
  },
  "a job that loses its Island while its submission is being stored is not assigned again before the write completes": {
    slots: [1, 1],
    steps: [
      ...[dial(0), up(0), { do: "submit", plan: { ...JOB, cargo: "free", failFast: true } } as const, commit],
      ...[dial(1), up(1), commit, { do: "timer" } as const, down(0), { do: "restartIsland", island: 1 } as const],
      ...[
        down(0),
        dial(1),
        up(2),
        { do: "submit", plan: { ...JOB, request: 1, isKeyed: true } } as const,
        { do: "timer" } as const,
      ],
      ...[commit, work(0, "failFinally"), { do: "restartIsland", island: 1 } as const],
    ],
  },
  "a job with an overlong run, which no other Island confirms in time, ends with run_timeout": {
    slots: [1, 1],
    steps: [
      ...[dial(1), up(0), { do: "submit", plan: { ...JOB, cargo: "value" } } as const, dial(0), up(1)],
      ...[commit, commit, down(1), down(1), work(0, "token"), up(1), up(1)],
      { do: "pass", ms: 3_601_000 } as const,
    ],
  },
};

it.each(Object.entries(SCENARIOS))("%s", async (_, { slots, steps }) => {
  const plan = { seed: 1, slots, hasBroken: false, grantMicro: 100_000_000 };
  const { broken } = await runScenario({ plan, steps }, new SimulatedDatabase());
  expect(broken).toEqual([]);
});

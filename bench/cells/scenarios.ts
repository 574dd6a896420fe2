import type { Window } from "./observer.ts";
import type { Phase } from "./workload.ts";

/** Distribution of Islands and requests over the coordinators, and the load. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** `ramp`: from almost no Islands at the first coordinator to twice the average at the last, as after a rolling restart. */
  readonly islands: "even" | "ramp";
  /**
   * `account`: all requests of an account go to one coordinator. `request`: each request goes to a random coordinator.
   */
  readonly routing: "account" | "request";
  readonly phases: readonly Phase[];
  readonly window: Window;
}

const STEADY = { phases: [{ fromMs: 0, load: 0.9 }], window: { fromMs: 20_000, toMs: 100_000 } };
/** Load of twice the capacity for a limited time. The waiting jobs are served during the following load of 0.75. */
const SURGE = {
  phases: [
    { fromMs: 0, load: 0.75 },
    { fromMs: 15_000, load: 2 },
    { fromMs: 30_000, load: 0.75 },
  ],
  window: { fromMs: 18_000, toMs: 60_000 },
};

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "even",
    title: "Load 0.9; Islands and requests spread evenly",
    islands: "even",
    routing: "request",
    ...STEADY,
  },
  {
    name: "restarted",
    title: "Load 0.9; requests spread evenly, Islands as after a rolling restart",
    islands: "ramp",
    routing: "request",
    ...STEADY,
  },
  {
    name: "surge",
    title: "Twice the capacity for 15 s; Islands spread evenly, each account at one coordinator",
    islands: "even",
    routing: "account",
    ...SURGE,
  },
  {
    name: "surge-restarted",
    title: "Twice the capacity for 15 s; Islands as after a rolling restart, each account at one coordinator",
    islands: "ramp",
    routing: "account",
    ...SURGE,
  },
];

import type { Bench } from "./harness/bench.ts";
import { bursts } from "./suite/bursts.ts";
import { cluster } from "./suite/cluster.ts";
import { disk } from "./suite/disk.ts";
import { dispatch } from "./suite/dispatch.ts";
import { engines } from "./suite/engines.ts";
import { floor } from "./suite/floor.ts";
import { gateways } from "./suite/gateways.ts";
import { growth } from "./suite/growth.ts";
import { islands } from "./suite/islands.ts";
import { jobs } from "./suite/jobs.ts";
import { latency } from "./suite/latency.ts";
import { mainThread } from "./suite/main-thread.ts";
import { realIsland } from "./suite/real-island.ts";
import { relay } from "./suite/relay.ts";
import { restart } from "./suite/restart.ts";
import { streams } from "./suite/streams.ts";

/** All benches of `npm run bench`, in the order in which they run. */
export const BENCHES: readonly Bench[] = [
  streams,
  relay,
  bursts,
  mainThread,
  floor,
  disk,
  latency,
  jobs,
  islands,
  growth,
  dispatch,
  restart,
  realIsland,
  engines,
  gateways,
  cluster,
];

/**
 * Maximum number of runs of benches whose runs take more than a minute and hardly differ, because they measure bytes,
 * memory or averages over 100,000 jobs.
 */
export const MAX_RUNS: ReadonlyMap<string, number> = new Map([
  ["disk", 3],
  ["jobs", 3],
  ["islands", 3],
  ["growth", 2],
  ["dispatch", 3],
  ["gateways", 3],
  ["main-thread", 3],
]);

/** The names of the benches in the order of RESULTS.md. Fleets, both benches of audits and soak have separate commands. */
export const RESULT_NAMES: readonly string[] = [
  ...BENCHES.map(({ name }) => name),
  "fleet",
  "audit",
  "audit-models",
  "soak",
];

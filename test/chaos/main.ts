/**
 * `npm run chaos -- --seed N --minutes M` runs a network under faults. With `--coordinators 3` or `--store postgres`,
 * coordinators run on PostgreSQL with one fault per `--every-s`. Exits with 1 if a guarantee was violated.
 */
import { parseArgs } from "node:util";
import { CLUSTER_FAULTS, LONE_FAULTS, type ClusterFaultKind } from "./cluster-faults.ts";
import type { FaultKind } from "./plan.ts";
import { runChaos } from "./run-chaos.ts";
import { runClusterChaos } from "./run-cluster-chaos.ts";
import { World } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "1" },
    /** Store of a single coordinator. Several coordinators always use PostgreSQL. */
    store: { type: "string", default: "sqlite" },
    /** Default: all faults that the machine permits, or `kill` with several coordinators. */
    faults: { type: "string" },
    coordinators: { type: "string", default: "1" },
    "every-s": { type: "string", default: "10" },
    /** Number of concurrent jobs, with PostgreSQL. */
    jobs: { type: "string", default: "200" },
    streams: { type: "string", default: "50" },
  },
});
const [seed, minutes, coordinators] = [values.seed, values.minutes, values.coordinators].map(Number) as [
  number,
  number,
  number,
];

if (!["sqlite", "postgres"].includes(values.store)) throw new Error("--store must be sqlite or postgres");
if (coordinators > 1 || values.store === "postgres") await disturbCluster();
else await disturbOne();

async function disturbOne(): Promise<void> {
  const kinds = (values.faults?.split(",") ?? World.kinds()) as FaultKind[];
  print(`seed ${seed}, ${minutes} min, faults: ${kinds.join(", ")}`);
  const { violations, historyFile, ...metrics } = await runChaos({ seed, minutes, kinds });
  report(metrics, violations);
  if (historyFile === null) return;
  print(`Again: npm run chaos -- --seed ${seed} --minutes ${minutes}\nHistory: ${historyFile}`);
}

async function disturbCluster(): Promise<void> {
  const all: readonly string[] = coordinators > 1 ? CLUSTER_FAULTS : LONE_FAULTS;
  const faults = values.faults ?? (coordinators > 1 ? "kill" : "all");
  const chosen = faults === "all" ? all : faults.split(",");
  const [kinds, everyMs] = [chosen as ClusterFaultKind[], Number(values["every-s"]) * 1_000];
  const load = { jobs: Number(values.jobs), streams: Number(values.streams) };
  print(
    `seed ${seed}, ${minutes} min, ${coordinators} coordinators on PostgreSQL, a fault every ${everyMs / 1_000} s: ${kinds.join(", ")}`,
  );
  const { violations, ...metrics } = await runClusterChaos({ seed, minutes, coordinators, everyMs, kinds, ...load });
  report(metrics, violations);
}

function report(metrics: object, violations: readonly string[]): void {
  print(JSON.stringify(metrics, null, 2));
  for (const line of violations) print(`BROKEN: ${line}`);
  if (violations.length > 0) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * `npm run chaos -- --seed N --minutes M`: a network under faults. With `--coordinators 3`: several coordinators, one disturbed each
 * `--every-s`; with `--store postgres` also one. Ends with 1 when a promise was broken.
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
    /** Of one coordinator: several share a PostgreSQL in any case. */
    store: { type: "string", default: "sqlite" },
    /** Default: all that the machine permits; of several coordinators: kill. "all": all. */
    faults: { type: "string" },
    coordinators: { type: "string", default: "1" },
    "every-s": { type: "string", default: "10" },
    /** Under way at any time, on PostgreSQL. */
    jobs: { type: "string", default: "200" },
    streams: { type: "string", default: "50" },
  },
});
const [seed, minutes, coordinators] = [values.seed, values.minutes, values.coordinators].map(Number) as [
  number,
  number,
  number,
];

if (!["sqlite", "postgres"].includes(values.store)) throw new Error("--store is sqlite or postgres");
if (coordinators > 1 || values.store === "postgres") await disturbCluster();
else await disturbOne();

async function disturbOne(): Promise<void> {
  const kinds = (values.faults?.split(",") ?? World.kinds()) as FaultKind[];
  say(`seed ${seed}, ${minutes} min, faults of ${kinds.join(", ")}`);
  const { violations, historyFile, ...figures } = await runChaos({ seed, minutes, kinds });
  report(figures, violations);
  if (historyFile === null) return;
  say(`Again: npm run chaos -- --seed ${seed} --minutes ${minutes}\nHistory: ${historyFile}`);
}

async function disturbCluster(): Promise<void> {
  const all: readonly string[] = coordinators > 1 ? CLUSTER_FAULTS : LONE_FAULTS;
  const faults = values.faults ?? (coordinators > 1 ? "kill" : "all");
  const chosen = faults === "all" ? all : faults.split(",");
  const [kinds, everyMs] = [chosen as ClusterFaultKind[], Number(values["every-s"]) * 1_000];
  const load = { jobs: Number(values.jobs), streams: Number(values.streams) };
  say(
    `seed ${seed}, ${minutes} min, ${coordinators} coordinators on PostgreSQL, each ${everyMs / 1_000} s one of ${kinds.join(", ")}`,
  );
  const { violations, ...figures } = await runClusterChaos({ seed, minutes, coordinators, everyMs, kinds, ...load });
  report(figures, violations);
}

function report(figures: object, violations: readonly string[]): void {
  say(JSON.stringify(figures, null, 2));
  for (const line of violations) say(`BROKEN: ${line}`);
  if (violations.length > 0) process.exitCode = 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

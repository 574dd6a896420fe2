import { parentPort, workerData } from "node:worker_threads";
import { runSeed } from "./run-seed.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import type { FailedSeed, SeedShare, SimulationReport } from "./simulate.ts";

/** This file runs in a worker thread. */
const { from, until, stride } = workerData as SeedShare;
const database = new SimulatedDatabase();
const failed: FailedSeed[] = [];
let steps = 0;
let crashes = 0;
for (let seed = from; seed < until; seed += stride) {
  const run = await runSeed(seed, database);
  if (run.broken.length > 0) failed.push({ seed, broken: run.broken });
  steps += run.steps.length;
  crashes += run.steps.filter((step) => step.do === "crash").length;
}
parentPort?.postMessage({ failed, steps, crashes } satisfies SimulationReport);

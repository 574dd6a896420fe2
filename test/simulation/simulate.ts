import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

export interface SeedRange {
  readonly from: number;
  readonly seeds: number;
}

/** Work of a thread, which is every `stride`th seed from `from` to `until`, exclusive. */
export interface SeedShare {
  readonly from: number;
  readonly until: number;
  readonly stride: number;
}

export interface FailedSeed {
  readonly seed: number;
  readonly broken: readonly string[];
}

export interface SimulationReport {
  readonly failed: readonly FailedSeed[];
  readonly steps: number;
  readonly crashes: number;
}

/** Runs all seeds of a range, with one thread per core. */
export async function simulate({ from, seeds }: SeedRange): Promise<SimulationReport> {
  const stride = Math.min(availableParallelism(), seeds);
  const shares = Array.from({ length: stride }, (_, offset) =>
    runShare({ from: from + offset, until: from + seeds, stride }),
  );
  const reports = await Promise.all(shares);
  return {
    failed: reports.flatMap(({ failed }) => failed).toSorted((a, b) => a.seed - b.seed),
    steps: reports.reduce((sum, { steps }) => sum + steps, 0),
    crashes: reports.reduce((sum, { crashes }) => sum + crashes, 0),
  };
}

function runShare(workerData: SeedShare): Promise<SimulationReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./seed-worker.ts", import.meta.url), { workerData });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`A thread of the simulation ended with code ${code}`)));
  });
}

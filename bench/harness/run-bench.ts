import { systemClock } from "../../shared/clock.ts";
import type { Bench } from "./bench.ts";
import { readMachineFacts } from "./machine.ts";
import { storeResult, type StoredResult } from "./results.ts";

const MS_PER_MINUTE = 60_000;

/** Runs a bench and stores its figures under `directory`. */
export async function runBench(
  directory: string,
  bench: Bench,
  { runs, isQuick }: { runs: number; isQuick: boolean },
): Promise<StoredResult> {
  const machine = readMachineFacts();
  const beganMs = systemClock.monotonicMs();
  console.log(`\n${bench.title}`);
  const result = await bench.run({ runs, isQuick, log: (line) => console.log(`  ${line}`) });
  const minutes = (systemClock.monotonicMs() - beganMs) / MS_PER_MINUTE;
  return storeResult(directory, bench, result, { machine, minutes });
}

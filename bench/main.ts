import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../shared/clock.ts";
import { BENCHES } from "./benches.ts";
import { readMachineFacts } from "./harness/machine.ts";
import { storeResult, writeResults } from "./harness/results.ts";

/** `npm run bench`: see README.md. */

const MS_PER_MINUTE = 60_000;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    runs: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
  },
});
const isQuick = values.quick;
const runs = isQuick ? 1 : Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs ${values.runs} is not a whole number above 0`);
const names = BENCHES.map(({ name }) => name);
const unknown = values.only?.find((name) => !names.includes(name));
if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such bench; there are ${names.join(", ")}`);
const chosen = BENCHES.filter(({ name }) => values.only?.includes(name) ?? true);

// A quick run measures nothing worth keeping.
const directory = isQuick ? await mkdtemp(join(tmpdir(), "atoll-bench-")) : import.meta.dirname;
try {
  for (const bench of chosen) {
    const machine = readMachineFacts();
    const beganMs = systemClock.monotonicMs();
    console.log(`\n${bench.title}`);
    const result = await bench.run({ runs, isQuick, log: (line) => console.log(`  ${line}`) });
    const minutes = (systemClock.monotonicMs() - beganMs) / MS_PER_MINUTE;
    await storeResult(directory, bench, result, { machine, minutes });
  }
  const text = await writeResults(directory, names);
  console.log(isQuick ? `\n${text}` : "\nWrote bench/RESULTS.md");
} finally {
  if (isQuick) await rm(directory, { recursive: true });
}

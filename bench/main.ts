import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BENCHES, MAX_RUNS, RESULT_NAMES } from "./benches.ts";
import { writeResults } from "./harness/results.ts";
import { runBench } from "./harness/run-bench.ts";
import { measureBuilt, measureTransport } from "./harness/servers.ts";
import { makeSoak } from "./suite/soak.ts";

/** Runs `npm run bench`, which README.md describes. */

const QUICK_SOAK_MINUTES = 0.05;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    runs: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
    transport: { type: "string" },
  },
});
const isQuick = values.quick;
if (values.built) measureBuilt();
if (values.transport !== undefined) measureTransport(values.transport);
const runs = isQuick ? 1 : Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs ${values.runs} must be a whole number above 0`);
const benches = isQuick ? [...BENCHES, makeSoak(QUICK_SOAK_MINUTES)] : BENCHES;
const names = benches.map(({ name }) => name);
const unknown = values.only?.find((name) => !names.includes(name));
if (unknown !== undefined) throw new Error(`Unknown bench --only ${unknown}: must be one of ${names.join(", ")}`);
const chosen = benches.filter(({ name }) => values.only?.includes(name) ?? true);

// The figures of a quick run are not stored, because they show only that the scripts work.
const directory = isQuick ? await mkdtemp(join(tmpdir(), "atoll-bench-")) : import.meta.dirname;
try {
  for (const bench of chosen) {
    await runBench(directory, bench, { runs: Math.min(runs, MAX_RUNS.get(bench.name) ?? runs), isQuick });
  }
  const text = await writeResults(directory, RESULT_NAMES);
  console.log(isQuick ? `\n${text}` : "\nWrote bench/RESULTS.md");
} finally {
  if (isQuick) await rm(directory, { recursive: true });
}

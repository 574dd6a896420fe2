import { parseArgs } from "node:util";
import { RESULT_NAMES } from "./benches.ts";
import { runBench } from "./harness/run-bench.ts";
import { writeResults } from "./harness/results.ts";
import { makeSoak } from "./suite/soak.ts";

/** Runs `npm run bench:soak -- --minutes 30`. Exits with 1 if a request failed or memory grew. */

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes} must be a number above 0`);
const { lines } = await runBench(import.meta.dirname, makeSoak(minutes), { runs: 1, isQuick: false });
await writeResults(import.meta.dirname, RESULT_NAMES);
const missed = lines.filter(({ budget }) => budget?.isMet === false);
for (const { what } of missed) console.log(`budget missed: ${what}`);
process.exitCode = missed.length === 0 ? 0 : 1;

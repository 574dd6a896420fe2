import { parseArgs } from "node:util";
import { RESULT_NAMES } from "./benches.ts";
import { fleetsNamed, makeFleetBench } from "./fleet/fleet-bench.ts";
import { LOADS } from "./fleet/fleets.ts";
import { runBench } from "./harness/run-bench.ts";
import { writeResults } from "./harness/results.ts";

/**
 * `npm run bench:fleet` places chats on modelled Islands by the real scheduler, oracles and other policies, in virtual
 * time. It writes RESULTS.md, except with `--fleets`, `--loads` or `--seed`, which only print.
 */

const { values } = parseArgs({
  options: { fleets: { type: "string" }, loads: { type: "string" }, seed: { type: "string" } },
});
const loads = values.loads?.split(",").map((percent) => Number(percent) / 100) ?? LOADS;
if (!loads.every((load) => load > 0 && load < 1)) throw new Error("--loads must be percentages, such as 30,60");
const bench = makeFleetBench(fleetsNamed(values.fleets?.split(",")), loads, Number(values.seed ?? 1));

if (Object.keys(values).length > 0) {
  const { notes = [] } = await bench.run({ runs: 1, isQuick: false, log: () => undefined });
  console.log(notes[0]);
} else {
  await runBench(import.meta.dirname, bench, { runs: 1, isQuick: false });
  await writeResults(import.meta.dirname, RESULT_NAMES);
}

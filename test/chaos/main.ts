/** `npm run chaos -- --seed N --minutes M`: a network under faults. Ends with 1 when a promise was broken. */
import { parseArgs } from "node:util";
import type { FaultKind } from "./plan.ts";
import { runChaos } from "./run-chaos.ts";
import { World } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "1" },
    /** Default: all that the machine permits. */
    faults: { type: "string", default: World.kinds().join() },
  },
});
const seed = Number(values.seed);
const kinds = values.faults.split(",") as FaultKind[];
process.stdout.write(`seed ${seed}, ${values.minutes} min, faults of ${kinds.join(", ")}\n`);
const { violations, historyFile, ...figures } = await runChaos({ seed, minutes: Number(values.minutes), kinds });
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
for (const line of violations) process.stdout.write(`BROKEN: ${line}\n`);
if (historyFile !== null) {
  process.stdout.write(`Again: npm run chaos -- --seed ${seed} --minutes ${values.minutes}\nHistory: ${historyFile}\n`);
  process.exitCode = 1;
}

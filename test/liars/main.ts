/**
 * `npm run liars -- --seed N --minutes M` runs ten Islands, half of which lie. Exits with 1 if a guarantee was
 * violated.
 */
import { parseArgs } from "node:util";
import { describeRun } from "./describe-run.ts";
import { runLiars } from "./run-liars.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "1" },
    /** Lying Islands without jobs reconnect as other hosts. */
    renames: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
process.stdout.write(`seed ${seed}, ${values.minutes} min\n`);
const result = await runLiars({ seed, minutes: Number(values.minutes), renames: values.renames });
process.stdout.write(`${describeRun(result)}\n`);
if (result.violations.length > 0) {
  for (const line of result.violations) process.stdout.write(`BROKEN: ${line}\n`);
  process.stdout.write(
    `Again: npm run liars -- --seed ${seed} --minutes ${values.minutes}${values.renames ? " --renames" : ""}\n`,
  );
  process.exitCode = 1;
}

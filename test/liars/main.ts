/**
 * `npm run liars -- --seed N --minutes M` runs ten Islands, half of which violate the protocol, and then Islands that send
 * false texts. Exits with 1 if a guarantee was violated.
 */
import { parseArgs } from "node:util";
import { describeRun } from "./describe-run.ts";
import { runLiars } from "./run-liars.ts";
import { describeTextLiars, runTextLiars, textLiarProblems } from "./text-liars.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "1" },
    /** Lying Islands without jobs reconnect as other hosts. */
    renames: { type: "boolean", default: false },
    /** Number of chats in the run with false texts; 0 leaves the run out. */
    chats: { type: "string", default: "1500" },
  },
});
const seed = Number(values.seed);
process.stdout.write(`seed ${seed}, ${values.minutes} min\n`);
const violations: string[] = [];
if (Number(values.minutes) > 0) {
  const result = await runLiars({ seed, minutes: Number(values.minutes), renames: values.renames });
  process.stdout.write(`${describeRun(result)}\n`);
  violations.push(...result.violations);
}
if (Number(values.chats) > 0) {
  const results = await runTextLiars({ seed, chats: Number(values.chats), honest: 10, trusted: 3 });
  process.stdout.write(`\n${describeTextLiars(results)}\n`);
  violations.push(...textLiarProblems(results));
}
if (violations.length > 0) {
  for (const line of violations) process.stdout.write(`BROKEN: ${line}\n`);
  const again = `--seed ${seed} --minutes ${values.minutes} --chats ${values.chats}${values.renames ? " --renames" : ""}`;
  process.stdout.write(`Again: npm run liars -- ${again}\n`);
  process.exitCode = 1;
}

/**
 * `npm run simulate -- --seeds N [--from N]` runs N seeds, and shrinks the history of the first one that fails.
 * `npm run simulate -- --seed N` runs one seed and prints its history. Exits with 1 if a guarantee was violated.
 */
import { parseArgs } from "node:util";
import { runScenario, runSeed, type RunResult } from "./run-seed.ts";
import { shrink } from "./shrink.ts";
import { simulate } from "./simulate.ts";
import { SimulatedDatabase } from "./simulated-database.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "10000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
  },
});

if (values.seed === undefined) await runAll(Number(values.from), Number(values.seeds));
else await runOne(Number(values.seed));

async function runAll(from: number, seeds: number): Promise<void> {
  const begunMs = performance.now();
  const { failed, steps, crashes } = await simulate({ from, seeds });
  const tookS = ((performance.now() - begunMs) / 1_000).toFixed(1);
  print(`${seeds} seeds from ${from}: ${steps} steps, ${crashes} crashes, ${failed.length} failed, ${tookS} s`);
  for (const { seed, broken } of failed.slice(0, 10)) print(`BROKEN: seed ${seed}: ${broken[0]}`);
  const [first] = failed;
  if (first !== undefined) await showShortest(await runSeed(first.seed, new SimulatedDatabase()));
}

async function runOne(seed: number): Promise<void> {
  const run = await runSeed(seed, new SimulatedDatabase());
  print(run.history.join("\n"));
  if (run.broken.length > 0) await showShortest(run);
}

async function showShortest(failed: RunResult): Promise<void> {
  process.exitCode = 1;
  const database = new SimulatedDatabase();
  const shortest = await shrink(failed, (scenario) => runScenario(scenario, database));
  const islands = shortest.plan.slots.length;
  print(
    `\nSeed ${failed.plan.seed} in ${shortest.steps.length} of its ${failed.steps.length} steps, with Islands: ${islands}`,
  );
  print(shortest.history.join("\n"));
  for (const line of shortest.broken) print(`BROKEN: ${line}`);
  print(`Again: npm run simulate -- --seed ${failed.plan.seed}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

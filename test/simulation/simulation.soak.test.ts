import { expect, it } from "vitest";
import { HAS_EVERY_CASE, soakRounds } from "../support/soak-rounds.ts";
import { runSeed } from "./run-seed.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import { simulate, type FailedSeed } from "./simulate.ts";

const SHORT_SEEDS = 100;
const SEEDS = soakRounds(10_000);

/** The full run takes 40 s on two idle cores, and shares them with other tests here. */
const LIMIT_MS = 600_000;

it(
  "every promise is kept in each seeded schedule of crashes, partitions, late frames and full disks",
  async () => {
    const { failed } = HAS_EVERY_CASE ? await simulate({ from: 1, seeds: SEEDS }) : await runHere(SHORT_SEEDS);
    expect(failed.map(({ seed, broken }) => `npm run simulate -- --seed ${seed}: ${broken[0]}`)).toEqual([]);
  },
  LIMIT_MS,
);

async function runHere(seeds: number): Promise<{ failed: FailedSeed[] }> {
  const database = new SimulatedDatabase();
  const failed: FailedSeed[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { broken } = await runSeed(seed, database);
    if (broken.length > 0) failed.push({ seed, broken });
  }
  return { failed };
}

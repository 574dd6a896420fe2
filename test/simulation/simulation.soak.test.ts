import { expect, it } from "vitest";
import { soakRounds } from "../support/soak-rounds.ts";
import { simulate } from "./simulate.ts";

const SEEDS = soakRounds(10_000);

/** A full run takes 40 s on two idle cores, but other tests run at the same time. */
const LIMIT_MS = 600_000;

it(
  "every guarantee holds in each seeded schedule of crashes, partitions, late frames and full disks",
  async () => {
    const { failed } = await simulate({ from: 1, seeds: SEEDS });
    expect(failed.map(({ seed, broken }) => `npm run simulate -- --seed ${seed}: ${broken[0]}`)).toEqual([]);
  },
  LIMIT_MS,
);

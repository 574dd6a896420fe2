import { parseArgs } from "node:util";
import { FLEETS, LOADS, type Fleet } from "./fleets.ts";
import { measure, type Measures } from "./measures.ts";
import { leastBusyFirst, oldRank, oracle, prefixAware, twoChoices } from "./policies.ts";
import { runPolicy, runScheduler, type Outcome } from "./run-fleet.ts";

const { values } = parseArgs({
  options: { fleets: { type: "string" }, loads: { type: "string" }, seed: { type: "string", default: "1" } },
});
const seed = Number(values.seed);
const fleets = FLEETS.filter(({ name }) => values.fleets?.split(",").includes(name) ?? name !== "many");
const loads = values.loads?.split(",").map((load) => Number(load) / 100) ?? LOADS;

const POLICIES = { "old rank": oldRank, "least busy": leastBusyFirst, "two choices": twoChoices, "prefix-aware": prefixAware };

async function bestOracle(fleet: Fleet, load: number): Promise<Outcome & { readonly measures: Measures }> {
  const outcomes = [];
  for (const social of [false, true]) {
    for (const hold of [false, true]) {
      // oxlint-disable-next-line no-await-in-loop -- Each run uses all of a core.
      outcomes.push(await runPolicy(fleet, load, seed, oracle(social, hold)));
    }
  }
  return outcomes
    .map((outcome) => ({ ...outcome, measures: measure(fleet, outcome) }))
    .reduce((a, b) => (b.measures.meanMs < a.measures.meanMs ? b : a));
}

for (const fleet of fleets) {
  for (const load of loads) {
    const best = await bestOracle(fleet, load);
    const atoll = measure(fleet, await runScheduler(fleet, load, seed));
    const others = [];
    for (const [name, policy] of Object.entries(POLICIES)) {
      const { meanMs } = measure(fleet, await runPolicy(fleet, load, seed, policy));
      others.push(`${name} ${(meanMs / best.measures.meanMs).toFixed(2)}`);
    }
    const times = `oracle ${(best.measures.meanMs / 1_000).toFixed(2)} s, Atoll ${(atoll.meanMs / best.measures.meanMs).toFixed(2)}`;
    const read = `read ${(atoll.readTokens / best.measures.readTokens).toFixed(2)}`;
    const spread = `least ${atoll.leastWork.toFixed(2)} most ${atoll.mostWork.toFixed(2)}`;
    const newcomer = atoll.newcomerPart === null ? "" : `, newcomer ${atoll.newcomerPart.toFixed(2)} (oracle ${best.measures.newcomerPart?.toFixed(2)})`;
    console.log(`${fleet.name} ${load * 100} %: ${times}, p95 ${(atoll.p95Ms / best.measures.p95Ms).toFixed(2)}; ${others.join(", ")}; ${read}; ${spread}${newcomer}`);
  }
}

import { expectedOutput } from "./cargo-traffic.ts";
import type { CargoIslands } from "./cargo-islands.ts";
import type { CandidateCost, Choice } from "./events.ts";
import { finishMs, type Work } from "./expected-cost.ts";
import type { QueuedJob } from "./job-queue.ts";
import type { OnlineIsland } from "./online-island.ts";
import type { PromptCaches } from "./prompt-caches.ts";

/** Where a job goes: to an Island now, or to a busy one that will finish it much sooner. */
export type Placement =
  | {
      readonly is: "start";
      readonly index: CargoIslands;
      readonly island: OnlineIsland;
      readonly choice: Choice;
      readonly cost: CandidateCost;
      readonly work: Work;
    }
  | { readonly is: "hold"; readonly island: OnlineIsland; readonly untilMs: number };

interface Candidate {
  readonly island: OnlineIsland;
  readonly cost: CandidateCost;
}

/** Candidates within this factor of the lowest cost are equals. */
const EQUAL = 1.1;
/** Power of the weights with which one of several equals is chosen: the cheaper ones are chosen more often. */
const PREFERENCE = 3;
/** A job waits for a busy Island that finishes it this many times sooner than any free one. Source: decision 0017. */
const HOLD_GAIN = 3;

/**
 * Returns where a job goes; undefined if no Island that it may use has a free slot.
 * @param only The Island whose slot is reserved for the job.
 */
export function place(
  { kind, size, mayHold }: Pick<QueuedJob, "kind" | "size" | "mayHold">,
  index: CargoIslands,
  caches: PromptCaches,
  heldFor: (islandId: string) => number,
  random: () => number,
  nowMs: number,
  only?: OnlineIsland,
): Placement | undefined {
  const { hasTokens, traffic } = index;
  const prompt = caches.find((hasTokens ? size?.promptParts : undefined) ?? []);
  const islands =
    only === undefined ? index.candidates(kind.avoidIslands, kind.mustAvoid, prompt.holders, nowMs) : [only];
  if (islands.length === 0) return undefined;
  const input = size?.input ?? traffic.input;
  const output = expectedOutput(traffic, size, hasTokens);
  const workOn = ({ id }: OnlineIsland): Work => ({ input, cached: prompt.tokensOn(id), output });
  const costs: Candidate[] = islands
    .map((island) => ({ island, cost: index.costOn(island, workOn(island), nowMs) }))
    .sort((a, b) => a.cost.costMs - b.cost.costMs);
  const start = (chosen: Candidate, reason: Choice["reason"]): Placement => {
    const candidates = costs.map(({ cost }) => cost);
    const choice = { reason, islandId: chosen.island.id, candidates };
    const work = { input, cached: chosen.cost.cachedTokens, output };
    return { is: "start", index, island: chosen.island, choice, cost: chosen.cost, work };
  };

  const mayTry = traffic.trials >= 1 && kind.avoidIslands.length === 0 && only === undefined;
  const trial = mayTry ? index.dueForTrial(nowMs) : undefined;
  if (trial !== undefined) {
    const known = costs.find(({ island }) => island === trial);
    const added = { island: trial, cost: index.costOn(trial, workOn(trial), nowMs) };
    if (known === undefined) costs.push(added);
    return start(known ?? added, "trial");
  }

  const [best] = costs;
  if (best === undefined) return undefined;
  if (mayHold && only === undefined) {
    for (const island of index.busyCandidates()) {
      if (kind.avoidIslands.includes(island.id)) continue;
      // Only a measured Island is known to be faster.
      if (!index.isMeasured(island)) continue;
      const cost = index.costOn(island, workOn(island), nowMs);
      const maxWaitMs = best.cost.costMs / (HOLD_GAIN * cost.risk) - finishMs(cost);
      // The next one would finish even later. Usually this is the first one, so that no runs need be read.
      if (maxWaitMs < 0) break;
      const waitMs = island.releaseMs(heldFor(island.id) + 1, nowMs);
      if (waitMs > maxWaitMs) continue;
      const finishedMs = (waitMs + finishMs(cost)) * cost.risk;
      return { is: "hold", island, untilMs: nowMs + best.cost.costMs - finishedMs };
    }
  }
  const equals = costs.filter(({ cost }) => cost.costMs <= EQUAL * best.cost.costMs);
  return start(pickEqual(best, equals, random), "cost");
}

/** Chooses one of several equals at random, so that each gets work and stays measured. */
function pickEqual(best: Candidate, equals: readonly Candidate[], random: () => number): Candidate {
  const limit = EQUAL * best.cost.costMs;
  const weights = equals.map(({ cost }) => (limit - cost.costMs) ** PREFERENCE);
  let rest = random() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, equal] of equals.entries()) {
    rest -= weights[index] ?? 0;
    if (rest < 0) return equal;
  }
  return best;
}

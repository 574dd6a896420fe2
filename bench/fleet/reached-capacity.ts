import { fleetCapacity, type Fleet } from "./fleets.ts";
import { oracle } from "./policies.ts";
import { runPolicy } from "./run-fleet.ts";

/** Load at which chats wait all the time. */
const SATURATING = 3;
const MAX_ISLANDS = 40;
const MAX_CHATS = 6_000;

/**
 * Returns the part of {@link fleetCapacity} that an oracle reaches while chats always wait: loads of models take time,
 * and prompts of conversations grow. A fleet that one joins counts without it, a fleet that slows counts as slowed.
 */
export async function reachedCapacity({ change, ...fleet }: Fleet, seed: number): Promise<number> {
  const saturated: Fleet = {
    ...fleet,
    islands: fleet.islands.slice(0, MAX_ISLANDS),
    chats: Math.min(fleet.chats, MAX_CHATS),
    ...(change?.slows === undefined ? {} : { change: { after: 0, slows: change.slows } }),
  };
  const { ended } = await runPolicy(saturated, SATURATING, seed, oracle(true, false));
  const from = Math.floor(0.2 * ended.length);
  const to = Math.floor(0.8 * ended.length);
  const ms = (ended[to]?.endedMs ?? 0) - (ended[from]?.endedMs ?? 0);
  return (1_000 * (to - from)) / ms / fleetCapacity(saturated);
}

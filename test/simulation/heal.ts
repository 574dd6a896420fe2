import { drain, perform } from "./perform.ts";
import type { SimulatedIsland } from "./simulated-island.ts";
import type { World } from "./world.ts";

/** Maximum time of all jobs after the last fault. Pauses of Islands last up to 30 minutes. */
export const MAX_HEALING_MS = 45 * 60_000;
/** Maximum time between two rounds. An earlier timer shortens it. */
const MAX_PASS_MS = 60_000;
const MAX_ROUNDS = 500;

/** Ends all faults, and lets all Islands and readers finish. Records a fault if jobs do not end. */
export async function heal(world: World): Promise<void> {
  const fromMs = world.time.elapsedMs;
  world.tell("all faults end here");
  await perform(world, { do: "freeDisk" });
  for (const link of world.links) link.isStalled = false;
  world.broken?.restart();
  const honest = world.islands.filter((island) => island !== world.broken);
  await dialAll(world, honest);
  await untilQuiet(world, honest);
  // Clients that got no response retry.
  for (const [number, { plan, jobIds, isInDoubt }] of world.requests) {
    if (plan.isKeyed && isInDoubt && jobIds === null) await perform(world, { do: "repeat", request: number });
  }
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    await dialAll(world, honest);
    await untilQuiet(world, honest);
    if (world.faults.length > 0) return;
    if (isDone(world, honest)) return;
    if (world.time.elapsedMs - fromMs > MAX_HEALING_MS) break;
    await passToNextTimer(world);
  }
  const left = [...(world.life?.registry.list() ?? [])].map(({ id, state }) => `${world.nameOf(id)} is ${state}`);
  world.faults.push(`jobs do not end: ${left.join(", ")}`);
}

/** Disconnects all Islands, and fires all remaining timers. */
export async function leave(world: World): Promise<void> {
  for (const island of world.islands) island.lose();
  for (const link of world.links) link.lose();
  await drain();
  for (let count = 0; count < 50 && (world.life?.clock.pendingTimers ?? 0) > 0; count += 1) {
    await perform(world, { do: "timer" });
  }
}

/** Reconnects at intervals as agents do, because a coordinator with read-only storage rejects sessions. */
async function dialAll(world: World, islands: readonly SimulatedIsland[]): Promise<void> {
  for (const { index } of islands) await perform(world, { do: "dial", island: index });
}

async function untilQuiet(world: World, islands: readonly SimulatedIsland[]): Promise<void> {
  for (let turn = 0; world.faults.length === 0 && (await claimRound(world, islands)); turn += 1) {
    if (turn > MAX_ROUNDS) world.faults.push("the network does not come to rest");
  }
}

function isDone(world: World, islands: readonly SimulatedIsland[]): boolean {
  if (world.serving === null || [...world.serving.registry.list()].length > 0) return false;
  const isAnswered = [...world.requests.values()].every(({ open }) => open === 0);
  const isRead = [...world.readers.values()].every(({ ending }) => ending !== null);
  return isAnswered && isRead && islands.every(({ isIdle }) => isIdle) && world.disk.waiting.length === 0;
}

async function passToNextTimer(world: World): Promise<void> {
  const untilMs = world.time.elapsedMs + MAX_PASS_MS;
  await perform(world, { do: "pass", ms: 1_000 });
  if (world.time.elapsedMs < untilMs && (world.life?.clock.pendingTimers ?? 0) > 0) {
    if (world.life?.clock.fireNext(untilMs) === false) world.time.elapsedMs = untilMs;
  } else world.time.elapsedMs = untilMs;
  await drain();
}

/** Performs all possible steps. Returns false if there were none. */
async function claimRound(world: World, islands: readonly SimulatedIsland[]): Promise<boolean> {
  let isBusy = false;
  const act = async (step: Parameters<typeof perform>[1]): Promise<void> => {
    if (await perform(world, step)) isBusy = true;
  };
  await act({ do: "start" });
  await act({ do: "commit" });
  for (const [index, link] of world.links.entries()) {
    while (link.up.length > 0 && !link.isGone) await act({ do: "up", link: index });
    while (link.down.length > 0 && link.isHeldByIsland) await act({ do: "down", link: index });
    if (link.isOpen && link.isHeldByIsland) continue;
    await act({ do: "loseAtCoordinator", link: index });
    await act({ do: "loseAtIsland", link: index });
  }
  for (const island of islands) {
    while (island.runs.length > 0) {
      const auditEvent = island.runs[0]?.isCancelled === true ? "stop" : "finish";
      await act({ do: "work", island: island.index, run: 0, auditEvent });
    }
  }
  for (const [number, reader] of world.readers) {
    const opened = { do: "open", reader: number, request: requestOf(world, reader.jobId), nth: 0 } as const;
    if (!reader.isOpen && reader.ending === null) await act(opened);
    const before = `${reader.outputs} ${reader.ending === null}`;
    await perform(world, { do: "read", reader: number, events: 1_000 });
    if (`${reader.outputs} ${reader.ending === null}` !== before) isBusy = true;
  }
  return isBusy;
}

function requestOf(world: World, jobId: string): number {
  const found = [...world.requests].find(([, { jobIds }]) => jobIds?.includes(jobId) === true);
  return found?.[0] ?? -1;
}

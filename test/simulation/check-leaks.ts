import { ACCOUNTS, type World } from "./world.ts";

/** Returns leaks, which are state that the coordinator keeps after all jobs have ended and all Islands have left. */
export function checkLeaks(world: World): string[] {
  const { life } = world;
  if (life === null) return ["the coordinator is down at the end"];
  const broken: string[] = [];
  const jobs = [...life.registry.list()].length;
  if (jobs > 0) broken.push(`leak: ${jobs} jobs in the registry`);
  for (const account of ACCOUNTS) {
    if (life.jobQuota.isFull(account, 1)) broken.push(`leak: ${account} holds a quota slot`);
    if (life.registry.outputBudget.count("account", account) > 0) broken.push(`leak: output of ${account} in memory`);
  }
  if (life.registry.outputBudget.count("coordinator") > 0) broken.push("leak: output in memory");
  for (const { hostId, index } of world.islands) {
    if (life.registry.outputBudget.count("island", hostId) > 0)
      broken.push(`leak: output of Island ${index} in memory`);
    const island = life.islands.get(hostId);
    if (island !== undefined)
      broken.push(`leak: Island ${index} holds ${island.attempts().length} slots while disconnected`);
  }
  const queued = [...life.scheduler.queuedDemand().values()].reduce((sum, count) => sum + count, 0);
  if (queued > 0) broken.push(`leak: ${queued} jobs wait in the scheduler`);
  if (life.clock.pendingTimers > 0) broken.push(`leak: ${life.clock.pendingTimers} timers`);
  return broken;
}

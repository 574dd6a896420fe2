import type { Step } from "./steps.ts";
import type { World } from "./world.ts";

/** Lets everything happen that follows from what was done: all microtasks, and what Islands pack at the end of a turn. */
export function drain(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Does a step and waits for what follows from it. False if it was not possible. Faults are noted in the world. */
export async function perform(world: World, step: Step): Promise<boolean> {
  if (step.do === "crash") return crash(world, step);
  if (step.do === "pass") return pass(world, step.ms);
  if (!begin(world, step)) return false;
  await drain();
  return true;
}

async function crash(
  world: World,
  { during, microtasks, isBlackout }: Extract<Step, { do: "crash" }>,
): Promise<boolean> {
  if (world.life === null) return false;
  if (during !== null) {
    begin(world, during);
    for (let turn = 0; turn < microtasks; turn += 1) await Promise.resolve();
  }
  world.kill();
  if (isBlackout) for (const island of world.islands) island.restart();
  await drain();
  return true;
}

async function pass(world: World, ms: number): Promise<boolean> {
  const untilMs = world.time.elapsedMs + ms;
  while (attempt(world, () => world.life?.clock.fireNext(untilMs) ?? false)) await drain();
  world.time.elapsedMs = untilMs;
  return true;
}

function begin(world: World, step: Step): boolean {
  return attempt(world, () => world.begin(step));
}

/** Whatever is thrown here would end the coordinator's process. */
function attempt(world: World, act: () => boolean): boolean {
  try {
    return act();
  } catch (error) {
    world.faults.push(`threw: ${error instanceof Error ? error.stack : String(error)}`);
    return true;
  }
}

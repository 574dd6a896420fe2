import type { Step } from "./steps.ts";
import type { World } from "./world.ts";

/** Runs all pending microtasks, and the frames that Islands pack at the end of a tick. */
export function drain(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Performs a step with its consequences, and records faults in the world. Returns false if the step was not possible.
 */
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

/** An error here would end the coordinator's process. */
function attempt(world: World, act: () => boolean): boolean {
  try {
    return act();
  } catch (error) {
    world.faults.push(`threw: ${error instanceof Error ? error.stack : String(error)}`);
    return true;
  }
}

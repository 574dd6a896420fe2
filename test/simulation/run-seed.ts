import { Random } from "../support/random.ts";
import { heal, leave } from "./heal.ts";
import { brokenPromises } from "./invariants.ts";
import { drain, perform } from "./perform.ts";
import { propose, weightsOf } from "./propose.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import { describeStep, type Step } from "./steps.ts";
import { World, type WorldPlan } from "./world.ts";

/** The steps and Islands of a seed. A scenario with fewer of them is valid as well. */
export interface Scenario {
  readonly plan: WorldPlan;
  readonly steps: readonly Step[];
}

export interface RunResult extends Scenario {
  /** Violated guarantees. */
  readonly broken: readonly string[];
  readonly history: readonly string[];
}

/** Number of steps of a seed. */
const STEPS = { min: 40, max: 140 };

/** Generates and performs the steps of a seed, and checks the result. */
export async function runSeed(seed: number, database: SimulatedDatabase): Promise<RunResult> {
  const random = new Random(seed);
  const plan = planOf(seed, random);
  const weights = weightsOf(random);
  const steps: Step[] = [];
  const count = random.between(STEPS.min, STEPS.max);
  const world = new World(plan, database);
  return judge(world, steps, async () => {
    await drain();
    while (steps.length < count && world.faults.length === 0) {
      const step = propose(world, random, weights);
      steps.push(step);
      await note(world, step);
    }
  });
}

/** Performs the steps of a scenario, and skips impossible ones. */
export async function runScenario({ plan, steps }: Scenario, database: SimulatedDatabase): Promise<RunResult> {
  const world = new World(plan, database);
  return judge(world, steps, async () => {
    await drain();
    for (const step of steps) {
      if (world.faults.length > 0) return;
      await note(world, step);
    }
  });
}

async function note(world: World, step: Step): Promise<void> {
  const { length } = world.history;
  world.history.push(describeStep(step));
  if (!(await perform(world, step))) world.history.length = length;
}

async function judge(world: World, steps: readonly Step[], act: () => Promise<void>): Promise<RunResult> {
  const onRejection = (reason: unknown): void => void world.faults.push(`unhandled rejection: ${String(reason)}`);
  process.on("unhandledRejection", onRejection);
  try {
    await act();
    if (world.faults.length === 0) await heal(world);
    if (world.faults.length === 0) await leave(world);
    const broken = await brokenPromises(world);
    return { plan: world.plan, steps, broken, history: world.history };
  } finally {
    world.kill();
    await drain();
    process.off("unhandledRejection", onRejection);
  }
}

function planOf(seed: number, random: Random): WorldPlan {
  const slots = Array.from({ length: random.between(1, 3) }, () => random.between(1, 2));
  return {
    seed,
    slots,
    hasBroken: slots.length > 1 && random.chance(0.25),
    // The clients get enough credits for many jobs, or for about three.
    grantMicro: random.chance(0.8) ? 100_000_000 : 5_000_000,
  };
}

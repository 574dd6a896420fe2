import type { RunResult, Scenario } from "./run-seed.ts";
import type { Step } from "./steps.ts";
import type { WorldPlan } from "./world.ts";

type Run = (scenario: Scenario) => Promise<RunResult>;

/**
 * Shrinks a failing scenario while it violates the same guarantee. The result has fewer steps, crashes between steps
 * instead of within one, fewer Islands and no broken Island. Removes steps in decreasing chunks (ddmin: Zeller and
 * Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
 */
export async function shrink(failed: RunResult, run: Run): Promise<RunResult> {
  const kind = kindOf(failed);
  let best = failed;
  const tryOut = async (scenario: Scenario): Promise<boolean> => {
    const result = await run(scenario);
    if (kindOf(result) !== kind) return false;
    best = result;
    return true;
  };
  for (let before = Infinity; best.steps.length < before;) {
    before = best.steps.length;
    for (const simplify of SIMPLER_PLANS) {
      for (let plan = simplify(best.plan); plan !== null; plan = simplify(best.plan)) {
        if (!(await tryOut({ plan, steps: best.steps }))) break;
      }
    }
    await removeChunks(
      () => best.steps,
      (steps) => tryOut({ plan: best.plan, steps }),
    );
    for (let index = 0; index < best.steps.length; index += 1) {
      for (const simpler of simplerSteps(best.steps[index])) {
        if (await tryOut({ plan: best.plan, steps: best.steps.with(index, simpler) })) break;
      }
    }
  }
  return best;
}

/** Returns the violated guarantee without ids and numbers, or undefined if none was violated. */
function kindOf({ broken }: RunResult): string | undefined {
  return broken[0]?.split("\n")[0]?.replace(/"[^"]*"|\d+[a-z]?/g, "…");
}

async function removeChunks(
  steps: () => readonly Step[],
  tryOut: (steps: readonly Step[]) => Promise<boolean>,
): Promise<void> {
  for (let size = Math.ceil(steps().length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < steps().length;) {
      const rest = steps().toSpliced(from, size);
      if (!(await tryOut(rest))) from += size;
    }
  }
}

/** Simplifications of a plan, each of which returns null if it does not apply. */
const SIMPLER_PLANS: readonly ((plan: WorldPlan) => WorldPlan | null)[] = [
  (plan) => (plan.hasBroken ? { ...plan, hasBroken: false } : null),
  (plan) => (plan.slots.length > 1 ? { ...plan, slots: plan.slots.slice(0, -1) } : null),
  (plan) => (plan.slots.some((slots) => slots > 1) ? { ...plan, slots: plan.slots.map(() => 1) } : null),
];

function simplerSteps(step: Step | undefined): Step[] {
  if (step?.do === "crash" && step.during !== null) return [{ ...step, during: null, microtasks: 0 }];
  if (step?.do === "submit" && step.plan.jobs > 1)
    return [{ do: "submit", plan: { ...step.plan, kind: "job", jobs: 1 } }];
  return [];
}

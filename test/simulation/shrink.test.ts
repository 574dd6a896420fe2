import { expect, it } from "vitest";
import type { RunResult, Scenario } from "./run-seed.ts";
import { shrink } from "./shrink.ts";
import type { Step } from "./steps.ts";

const PLAN = { seed: 1, slots: [1, 2, 1], hasBroken: true, grantMicro: 1 };
const commit: Step = { do: "commit" };
const timer: Step = { do: "timer" };
const crash = (during: Step | null): Step => ({ do: "crash", during, microtasks: 3, isBlackout: false });

/** Violates a guarantee if there is a commit before a crash. */
async function runBroken({ plan, steps }: Scenario): Promise<RunResult> {
  const committed = steps.indexOf(commit);
  const isBroken = committed >= 0 && steps.slice(committed).some((step) => step.do === "crash");
  return { plan, steps, broken: isBroken ? [`job ${steps.length} is lost`] : [], history: [] };
}

it("shrink() keeps only the violating steps, with a crash between steps and one Island", async () => {
  const noise = Array.from({ length: 40 }, () => timer);
  const steps = [...noise, commit, ...noise, crash(timer), ...noise, crash(null), ...noise];
  const shortest = await shrink(await runBroken({ plan: PLAN, steps }), runBroken);
  expect(shortest.steps).toEqual([commit, { do: "crash", during: null, microtasks: 0, isBlackout: false }]);
  expect(shortest.plan).toEqual({ ...PLAN, slots: [1], hasBroken: false });
});

it("shrink() does not replace a violated guarantee by another one", async () => {
  const run = async (scenario: Scenario): Promise<RunResult> => {
    const result = await runBroken(scenario);
    return { ...result, broken: result.broken.length > 0 || scenario.steps.length > 1 ? result.broken : ["another"] };
  };
  const shortest = await shrink(await run({ plan: PLAN, steps: [timer, commit, timer, crash(null)] }), run);
  expect(shortest.broken).toEqual(["job 2 is lost"]);
});

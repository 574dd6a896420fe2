import { fileBatchSteps } from "./file-batches.ts";
import { islandSteps } from "./islands.ts";
import { openStore, type Opened, type RunStep, type Step, type Steps } from "./steps.ts";

/** The stores whose methods are the same on every engine. */
const STORES = {
  fileBatches: fileBatchSteps,
  islands: islandSteps,
};

export type CommonStores = { readonly [K in keyof typeof STORES]: Opened<(typeof STORES)[K]> };

export function openStores(run: RunStep): CommonStores {
  const opened = Object.entries<Steps>(STORES).map(([name, steps]) => [name, openStore(name, steps, run)]);
  return Object.fromEntries(opened) as CommonStores;
}

const byName = new Map<string, Step>(
  Object.entries<Steps>(STORES).flatMap(([store, steps]) =>
    Object.entries(steps).map(([key, step]) => [`${store}.${key}`, step] as const),
  ),
);

/** The step that a thread was asked to run. */
export function stepNamed(name: string): Step {
  const step = byName.get(name);
  if (step === undefined) throw new Error(`No store has the step "${name}"`);
  return step;
}

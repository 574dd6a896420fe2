import type { AuditEntry } from "./audit-log.ts";
import { catalogSteps } from "./catalog.ts";
import { fileBatchSteps } from "./file-batches.ts";
import { islandSteps } from "./islands.ts";
import { auditColumn } from "./operator-queries.ts";
import { openStore, runBody, write, type Opened, type RunStep, type Step, type Steps } from "./steps.ts";

/** The stores whose methods are the same on every engine. */
const STORES = {
  catalog: catalogSteps,
  fileBatches: fileBatchSteps,
  islands: islandSteps,
};

export type CommonStores = { readonly [K in keyof typeof STORES]: Opened<(typeof STORES)[K]> };

export function openStores(run: RunStep): CommonStores {
  const opened = Object.entries<Steps>(STORES).map(([name, steps]) => [name, openStore(name, steps, run)]);
  return Object.fromEntries(opened) as CommonStores;
}

const notedSteps = {
  /** Runs a step, and adds `entry` to the audit log unless that throws or returns false. */
  write: write(async (tx, entry: AuditEntry, name: string, args: readonly unknown[]) => {
    const result = await runBody(stepNamed(name), tx, args);
    if (result === false) return result;
    const sql = `INSERT INTO audit_log (at_ms, via, actor, origin, action, target_kind, target_id, before, after)
      VALUES (@atMs, @via, @actor, @origin, @action, @targetKind, @targetId, @before, @after)`;
    await tx.run(sql, { ...entry, before: auditColumn(entry.before), after: auditColumn(entry.after) });
    return result;
  }),
};

/** Each write adds `entry` to the audit log, in its own commit. */
export function noting(run: RunStep, entry: AuditEntry): RunStep {
  return (name, step, args) =>
    step.kind === "write" ? run("noted.write", notedSteps.write, [entry, name, args]) : run(name, step, args);
}

const byName = new Map<string, Step>(
  Object.entries<Steps>({ ...STORES, noted: notedSteps }).flatMap(([store, steps]) =>
    Object.entries(steps).map(([key, step]) => [`${store}.${key}`, step] as const),
  ),
);

/** The step that a thread was asked to run. */
export function stepNamed(name: string): Step {
  const step = byName.get(name);
  if (step === undefined) throw new Error(`No store has the step "${name}"`);
  return step;
}

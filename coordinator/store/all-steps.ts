import { accountSteps } from "./accounts/accounts.ts";
import { appendLine, auditSteps, type AuditEntry } from "./accounts/audit-log.ts";
import { auditSteps as jobAuditSteps } from "./audits.ts";
import { batchSteps } from "./jobs/batches.ts";
import { catalogSteps } from "./catalog.ts";
import { contentSteps } from "./jobs/content.ts";
import { conversationSteps } from "./conversations.ts";
import { fileBatchSteps } from "./files/file-batches.ts";
import { fileSteps } from "./files/files.ts";
import { hostMetricSteps } from "./ledger/host-metrics.ts";
import { islandSteps } from "./islands.ts";
import { jobReads } from "./jobs/job-reads.ts";
import { ledgerSteps } from "./ledger/ledger.ts";
import { maintenanceSteps } from "./prune.ts";
import { operatorSteps } from "./accounts/operators.ts";
import { openStore, runBody, write, type Opened, type RunStep, type Step, type Steps } from "./steps/steps.ts";
import { usageSteps } from "./ledger/usage.ts";
import { webhookSteps } from "./jobs/webhooks.ts";

const STORES = {
  accounts: accountSteps,
  audit: auditSteps,
  audits: jobAuditSteps,
  batches: batchSteps,
  catalog: catalogSteps,
  content: contentSteps,
  conversations: conversationSteps,
  fileBatches: fileBatchSteps,
  files: fileSteps,
  hostMetrics: hostMetricSteps,
  islands: islandSteps,
  jobs: jobReads,
  ledger: ledgerSteps,
  maintenance: maintenanceSteps,
  operators: operatorSteps,
  usage: usageSteps,
  webhooks: webhookSteps,
};

/** The stores whose writes an audit line can accompany. */
export type NotedStores = { readonly [K in keyof typeof STORES]: Opened<(typeof STORES)[K]> };

export interface CommonStores extends NotedStores {
  readonly audit: NotedStores["audit"] & {
    /** Returns stores whose write also appends `entry`, in its commit, unless it throws or returns false. */
    noting(entry: AuditEntry): NotedStores;
  };
}

export function openStores(run: RunStep): CommonStores {
  const stores = openAll(run);
  const noting = (entry: AuditEntry): NotedStores =>
    openAll((name, step, args) =>
      step.kind === "write" ? run("noted.write", notedSteps.write, [entry, name, args]) : run(name, step, args),
    );
  return { ...stores, audit: { ...stores.audit, noting } };
}

function openAll(run: RunStep): NotedStores {
  const opened = Object.entries<Steps>(STORES).map(([name, steps]) => [name, openStore(name, steps, run)]);
  return Object.fromEntries(opened) as NotedStores;
}

const notedSteps = {
  write: write(async (tx, entry: AuditEntry, name: string, args: readonly unknown[]) => {
    const result = await runBody(stepNamed(name), tx, args);
    if (result !== false) await appendLine(tx, entry);
    return result;
  }),
};

const byName = new Map<string, Step>(
  Object.entries<Steps>({ ...STORES, noted: notedSteps }).flatMap(([store, steps]) =>
    Object.entries(steps).map(([key, step]) => [`${store}.${key}`, step] as const),
  ),
);

export function stepNamed(name: string): Step {
  const step = byName.get(name);
  if (step === undefined) throw new Error(`Unknown store step "${name}"`);
  return step;
}

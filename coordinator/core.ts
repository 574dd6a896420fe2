import type { Catalog } from "./catalog/catalog.ts";
import type { SeenWork } from "./cluster/seen-work.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { openAssignments } from "./dispatch/assignments.ts";
import { openAttemptFencing, type HeldJobClaims } from "./dispatch/attempt-fencing.ts";
import type { AttemptProofs } from "./dispatch/attempt-proofs.ts";
import { openDispatcher } from "./dispatch/dispatcher.ts";
import { openWaitReasons } from "./dispatch/wait-reasons.ts";
import type { Env } from "./env.ts";
import type { CargoSigner } from "./islands/cargo-signer.ts";
import { islandConnections, type SessionOrder } from "./islands/island-connections.ts";
import { IslandRegistry } from "./islands/island-registry.ts";
import { openBatchGate } from "./jobs/batches/batch-gate.ts";
import { JobRegistry } from "./jobs/job-registry.ts";
import { openSubmissions } from "./jobs/submissions.ts";
import { dailyStorage } from "./quotas/daily-storage.ts";
import { JobQuota } from "./quotas/job-quota.ts";
import { Scheduler } from "./scheduler/scheduler.ts";
import type { Outlook, WorkKind } from "./scheduler/shared-work.ts";
import type { Store } from "./store/store.ts";

/** What jobs and Islands need of the parts around them. */
interface Surroundings {
  readonly store: Pick<Store, "accounts" | "cluster" | "files" | "islands" | "jobs">;
  readonly catalog: Catalog;
  readonly memory: ConstructorParameters<typeof JobRegistry>[5];
  /** How many jobs of an account may run at once. */
  readonly limitOf: (accountId: string) => Promise<number>;
  readonly onWebhookDue: (id: string, accountId: string) => void;
  /** What the other coordinators said last of their work. */
  readonly seen: Pick<SeenWork, "couldHearSince" | "elsewhere" | "mayRunElsewhere">;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** What other coordinators do with jobs and Islands of this one. */
interface Others {
  /** Whether their Islands may run jobs of a kind. Null for each that does not respond. */
  outlooksFor(kind: WorkKind): Promise<readonly (Outlook | null)[]>;
  readonly claims: HeldJobClaims | null;
  readonly sessions?: SessionOrder;
}

export type Core = ReturnType<typeof openCore>;

/** Everything between the API and storage: unfinished jobs, Islands, and the scheduler. {@link joinJobsAndIslands} connects them. */
export function openCore(env: Env<keyof CoordinatorConfig>, around: Surroundings) {
  const { clock, config } = env;
  const { store, catalog, seen } = around;
  const cargoOf = (slug: string) => catalog.known(slug);
  const { chatShare, islandBackoffMs } = config;
  const scheduler = new Scheduler(cargoOf, chatShare, islandBackoffMs, around.random, seen.mayRunElsewhere);
  const jobQuota = new JobQuota();
  const storage = dailyStorage(clock, config.accountDailyBytes);
  const jobs = new JobRegistry(
    env,
    store,
    catalog,
    jobQuota,
    storage,
    around.memory,
    around.onWebhookDue,
    seen.couldHearSince,
  );
  const gate = openBatchGate(env, jobs, jobQuota, around.limitOf, store.cluster.places);
  const submissions = openSubmissions(env, store, catalog, storage);
  const islands = new IslandRegistry(env);
  const explainWait = openWaitReasons(clock, scheduler, islands, gate, seen.elsewhere);
  const quarantineOf = (hostId: string) => scheduler.quarantineOf(hostId, clock.monotonicMs());
  return { store, catalog, scheduler, jobQuota, jobs, gate, submissions, islands, explainWait, quarantineOf };
}

/** Assigns jobs to Islands from now on, and lets Islands report. @param suspensionOf The reason for which an Island is sent away. */
export function joinJobsAndIslands(
  env: Env<keyof CoordinatorConfig>,
  { store, catalog, scheduler, jobs, gate, islands, explainWait, quarantineOf }: Core,
  proofs: AttemptProofs,
  signer: Pick<CargoSigner, "sign">,
  others: Others,
  suspensionOf?: (hostId: string, accountId: string) => string | null,
) {
  const { clock } = env;
  const assign = openAssignments(clock, store, jobs, islands, proofs, signer);
  const dispatcher = openDispatcher(env, scheduler, jobs, islands, assign, explainWait, (kind) =>
    others.outlooksFor(kind),
  );
  const reports = openAttemptFencing(env, jobs, islands, proofs, dispatcher, others.claims);
  const connections = islandConnections(
    env,
    store,
    islands,
    reports,
    signer,
    catalog,
    quarantineOf,
    suspensionOf,
    others.sessions,
  );
  return {
    dispatcher,
    connections,
    close(): void {
      for (const part of [jobs, dispatcher, islands, gate]) part.close();
    },
  };
}

import { planAudits } from "./audits/audit-plans.ts";
import { findReaders } from "./audits/readers.ts";
import type { Standings } from "./audits/standings.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Checks } from "./checks/checks.ts";
import { openMember } from "./cluster/cluster-member.ts";
import type { Network } from "./cluster/open-network.ts";
import { shareJobs } from "./cluster/shared-jobs.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { isProven } from "./credits/standing.ts";
import { openAssignments } from "./dispatch/assignments.ts";
import { openAttemptFencing } from "./dispatch/attempt-fencing.ts";
import type { AttemptTokens } from "./dispatch/attempt-tokens.ts";
import { openDispatcher } from "./dispatch/dispatcher.ts";
import { recoverJobs } from "./dispatch/recovery.ts";
import { openWaitReasons } from "./dispatch/wait-reasons.ts";
import type { Env } from "./env.ts";
import type { Files } from "./files/open-files.ts";
import type { CargoSigner } from "./islands/cargo-signer.ts";
import { islandConnections } from "./islands/island-connections.ts";
import { IslandRegistry } from "./islands/island-registry.ts";
import { openBatchGate } from "./jobs/batches/batch-gate.ts";
import { openBatchService } from "./jobs/batches/batch-service.ts";
import { JobRegistry } from "./jobs/job-registry.ts";
import { openSubmissions } from "./jobs/submissions.ts";
import { dailyStorage } from "./quotas/daily-storage.ts";
import { JobQuota } from "./quotas/job-quota.ts";
import { Scheduler } from "./scheduler/scheduler.ts";
import type { Store } from "./store/store.ts";

interface Surroundings {
  readonly store: Pick<
    Store,
    "accounts" | "batches" | "cluster" | "files" | "islands" | "jobs" | "readOnlyReason" | "webhooks"
  >;
  readonly catalog: Catalog;
  readonly refreshCatalog: () => Promise<void>;
  readonly memory: ConstructorParameters<typeof JobRegistry>[5];
  readonly checks: Pick<Checks, "answer" | "inputs" | "output">;
  readonly attemptTokens: AttemptTokens;
  readonly signer: Pick<CargoSigner, "sign">;
  readonly limitOf: (accountId: string) => Promise<number>;
  /** Returns why the operator suspended an Island or its account; null if neither is suspended. */
  readonly suspensionOf: (hostId: string, accountId: string) => string | null;
  readonly headOf: Files["head"];
  readonly onWebhookDue: (id: string, accountId: string) => void;
  readonly standings: Pick<Standings, "of" | "refusedWith" | "onChange">;
  /** Returns a random number from 0 to below 1. */
  readonly random: () => number;
}

export type Core = ReturnType<typeof openCore>;

/** Opens everything between API and storage: unfinished jobs, Islands, the scheduler and cluster membership. */
export function openCore(
  env: Env<keyof CoordinatorConfig>,
  network: Pick<Network, "learnTime" | "peers" | "seen">,
  around: Surroundings,
) {
  const { clock, config } = env;
  const { peers, seen } = network;
  const { store, catalog, refreshCatalog, memory, checks, attemptTokens, signer, limitOf, suspensionOf, onWebhookDue } =
    around;
  const { standings, random } = around;
  const cargoOf = (slug: string) => {
    const cargo = catalog.known(slug);
    if (cargo === undefined) return undefined;
    const isProvenOwner = (accountId: string) => isProven(standings.of(accountId, slug));
    return { ...cargo, refusedOwners: standings.refusedWith(slug), isProvenOwner };
  };
  const { auditShare, chatShare, trialShare, islandBackoffMs } = config;
  const scheduler = new Scheduler(cargoOf, chatShare, trialShare, islandBackoffMs, random, seen.mayRunElsewhere);
  const jobQuota = new JobQuota();
  const storage = dailyStorage(clock, config.accountDailyBytes);
  const couldReadersCome = (sinceMs: number) => seen.couldReceiveSince(sinceMs);
  const islands = new IslandRegistry(env, (slug) => catalog.known(slug)?.model?.sizeBytes ?? null);
  const readers = findReaders(clock, islands, standings, (slug) => member.readersElsewhere(slug), random);
  const planAudit = planAudits(standings, readers, (job) => jobs.cargoOf(job), auditShare, random);
  const jobs = new JobRegistry(
    env,
    store,
    catalog,
    jobQuota,
    storage,
    memory,
    onWebhookDue,
    couldReadersCome,
    planAudit,
  );
  const gate = openBatchGate(env, jobs, jobQuota, limitOf, store.cluster.quotaSlots);
  const submissions = openSubmissions(env, store, catalog, storage, checks, around.headOf, random);
  const explainWait = openWaitReasons(clock, scheduler, islands, gate, seen.elsewhere);
  const quarantineOf = (hostId: string) => scheduler.quarantineOf(hostId, clock.monotonicMs());
  const placementOf = (jobId: string, islandId: string | null) => dispatcher.placementOf(jobId, islandId);
  const router = shareJobs(peers, store, jobs, explainWait, placementOf, memory.outputMemoryBytes, env);
  const batches = openBatchService(clock, store, jobs, submissions, gate, router);
  const parts = { store, jobs, islands, batches, submissions, scheduler, refreshCatalog };
  const member = openMember(env, network, parts);
  const assign = openAssignments(clock, store, jobs, islands, attemptTokens, signer);
  const dispatcher = openDispatcher(env, scheduler, jobs, islands, assign, explainWait, (kind) =>
    member.outlooksFor(kind),
  );
  standings.onChange((slug) => {
    for (const changed of slug === null ? catalog.list() : [{ slug }]) {
      dispatcher.schedule({ kind: "cargo_changed", slug: changed.slug });
    }
  });
  const reports = openAttemptFencing(env, jobs, islands, attemptTokens, dispatcher, checks, (...held) =>
    member.mover.claim(...held),
  );
  const connections = islandConnections(
    env,
    store,
    islands,
    reports,
    signer,
    catalog,
    quarantineOf,
    suspensionOf,
    member.sessions,
  );
  return {
    store,
    catalog,
    scheduler,
    jobQuota,
    jobs,
    gate,
    submissions,
    islands,
    readers,
    explainWait,
    quarantineOf,
    /** Routes a request to the coordinator that owns its job. */
    router,
    batches,
    member,
    dispatcher,
    connections,
    /** Restores jobs and batches. Must be awaited before the first Island or client is accepted. */
    async restore(): Promise<{ waiting: number; held: number }> {
      const recovered = await recoverJobs(store, jobs, islands);
      await batches.restore();
      return recovered;
    },
    /** Cancels the timers. The cluster member leaves after this, then the router closes. */
    close(): void {
      for (const part of [jobs, dispatcher, islands, gate]) part.close();
    },
  };
}

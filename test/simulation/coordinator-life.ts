import { AttemptFencing } from "../../coordinator/dispatch/attempt-fencing.ts";
import { AttemptProofs } from "../../coordinator/dispatch/attempt-proofs.ts";
import { Dispatcher } from "../../coordinator/dispatch/dispatcher.ts";
import { recoverJobs } from "../../coordinator/dispatch/recovery.ts";
import { WaitReasons } from "../../coordinator/dispatch/wait-reasons.ts";
import { islandConnections, type IslandConnections } from "../../coordinator/islands/island-connections.ts";
import { IslandRegistry } from "../../coordinator/islands/island-registry.ts";
import { testEnv } from "../support/test-env.ts";
import { BatchGate } from "../../coordinator/jobs/batches/batch-gate.ts";
import { BatchService } from "../../coordinator/jobs/batches/batch-service.ts";
import { JobRegistry } from "../../coordinator/jobs/job-registry.ts";
import { JobService } from "../../coordinator/jobs/job-service.ts";
import { Submissions } from "../../coordinator/jobs/submissions.ts";
import { resolveLimits } from "../../coordinator/quotas/account-limits.ts";
import { DailyStorage } from "../../coordinator/quotas/daily-storage.ts";
import { JobQuota } from "../../coordinator/quotas/job-quota.ts";
import { outputBudget } from "../../coordinator/quotas/output-budget.ts";
import { Scheduler } from "../../coordinator/scheduler/scheduler.ts";
import { Writer } from "../../coordinator/store/sqlite/engine/writer.ts";
import { SimulatedClock, type SimulatedTime } from "./simulated-clock.ts";
import type { SimulatedDatabase, SimulatedStore } from "./simulated-database.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";
import {
  catalog,
  GRACE_MS,
  MAX_ATTEMPTS,
  NETWORK_FEE,
  FEED_DELAY_MS,
  PHASE_LIMITS,
  PRIORITY_PRICE,
  RESTART_GRACE_MS,
  signer,
} from "./settings.ts";

export interface LifeDeps {
  readonly database: SimulatedDatabase;
  readonly disk: SimulatedDisk;
  readonly time: SimulatedTime;
  readonly random: () => number;
  /** The coordinator would end its process. */
  readonly onFatal: (error: unknown) => void;
}

const MIB = 1_024 ** 2;
const HEARTBEAT_MS = 10_000;
const SECRET = Buffer.from("the secret of every simulation..");
const log = { info: () => {}, warn: () => {}, error: () => {} };

/** The coordinator from its start until it is killed: everything between the HTTP API and the writer's thread, wired as it is in `openCoordinator`. */
export class CoordinatorLife {
  readonly clock: SimulatedClock;
  readonly store: SimulatedStore;
  readonly jobQuota = new JobQuota();
  readonly outputBudget = outputBudget({
    outputMemoryBytes: 64 * MIB,
    accountOutputMemoryBytes: 64 * MIB,
    islandOutputMemoryBytes: 64 * MIB,
  });
  readonly registry: JobRegistry;
  readonly islands: IslandRegistry;
  readonly scheduler: Scheduler;
  readonly connections: IslandConnections;
  readonly jobs: JobService;
  readonly batches: BatchService;
  /** Feeds that were read. They are kept, because when garbage is collected does not depend on the seed. */
  readonly openFeeds = new Set<object>();
  /** Clients and Islands are let in. */
  isServing = false;
  isDead = false;
  readonly #disk: SimulatedDisk;

  constructor({ database, disk, time, random, onFatal: end }: LifeDeps) {
    this.#disk = disk;
    const clock = new SimulatedClock(time);
    const waits = { islandGraceMs: GRACE_MS, restartGraceMs: RESTART_GRACE_MS, heartbeatMs: HEARTBEAT_MS };
    const env = testEnv(waits, { clock });
    const writer = new Writer(disk.startThread(), clock, () => {});
    const store = database.open(writer);
    const { jobQuota, outputBudget } = this;
    const onFatal = (error: unknown): void => {
      if (!this.isDead) end(error);
    };
    const scheduler = new Scheduler((slug) => catalog.known(slug), 0.5, 1_000, random);
    const dailyStorage = new DailyStorage(clock, 1_024 * MIB);
    const registry = new JobRegistry({
      store,
      catalog,
      jobQuota,
      outputBudget,
      maxOutputBytes: MIB,
      clock,
      graceMs: GRACE_MS,
      restartGraceMs: RESTART_GRACE_MS,
      maxAttempts: MAX_ATTEMPTS,
      networkFee: NETWORK_FEE,
      phaseLimits: PHASE_LIMITS,
      feedDelayMs: FEED_DELAY_MS,
      dailyStorage,
      maxRunMs: 3_600_000,
      onWebhookDue: () => {},
      onFatal,
    });
    const limitOf = async (accountId: string) => resolveLimits(await store.accounts.limits(accountId)).concurrentJobs;
    const gate = new BatchGate({ jobs: registry, quota: jobQuota, clock, limitOf, onFatal });
    const submissions = new Submissions({
      store,
      catalog,
      clock,
      webhookAllowPrivate: false,
      priorityPrice: PRIORITY_PRICE,
      dailyStorage,
    });
    const islands = new IslandRegistry(env);
    const proofs = new AttemptProofs(SECRET);
    const waitReasons = new WaitReasons({ scheduler, islands, gate, clock, elsewhere: () => null });
    const dispatcher = new Dispatcher({
      store,
      jobs: registry,
      islands,
      scheduler,
      waitReasons,
      proofs,
      signer,
      clock,
      log,
      graceMs: GRACE_MS,
      restartGraceMs: RESTART_GRACE_MS,
      others: null,
    });
    const schedule: Dispatcher["schedule"] = (event) => dispatcher.schedule(event);
    const reports = new AttemptFencing({
      jobs: registry,
      islands,
      proofs,
      clock,
      measure: schedule,
      letDown: schedule,
      hasOtherIsland: (job) => dispatcher.hasOtherIsland(job),
      log,
    });
    const quarantineOf = (hostId: string) => scheduler.quarantineOf(hostId, clock.monotonicMs());
    this.connections = islandConnections(env, store, islands, reports, signer, catalog, quarantineOf);
    this.batches = new BatchService({ store, jobs: registry, submissions, gate, clock });
    this.jobs = new JobService({
      store,
      jobs: registry,
      submissions,
      jobQuota,
      clock,
      explainWait: (job) => waitReasons.of(job),
      removeContent: async () => undefined,
    });
    this.clock = clock;
    this.store = store;
    this.registry = registry;
    this.islands = islands;
    this.scheduler = scheduler;
  }

  /** Restores what the life before left, then lets clients and Islands in. */
  async recover(): Promise<void> {
    await recoverJobs(this.store, this.registry, this.islands);
    await this.batches.restore();
    this.isServing = true;
  }

  /** As SIGKILL does: nothing that it does from now on reaches the disk, a client or an Island, and no timer of it fires. */
  kill(): void {
    this.isDead = true;
    this.isServing = false;
    this.#disk.cut();
    this.clock.stop();
  }
}

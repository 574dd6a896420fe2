import { LocalBus } from "../../coordinator/bus/local-bus.ts";
import { openPeers } from "../../coordinator/cluster/peers.ts";
import { seenWork } from "../../coordinator/cluster/seen-work.ts";
import { openCore, type Core } from "../../coordinator/core.ts";
import { openChecks } from "../../coordinator/checks/checks.ts";
import { attemptTokens } from "../../coordinator/dispatch/attempt-tokens.ts";
import type { IslandConnections } from "../../coordinator/islands/island-connections.ts";
import type { IslandRegistry } from "../../coordinator/islands/island-registry.ts";
import type { BatchService } from "../../coordinator/jobs/batches/batch-service.ts";
import type { JobRegistry } from "../../coordinator/jobs/job-registry.ts";
import { openJobService, type JobApi } from "../../coordinator/jobs/job-service.ts";
import { resolveLimits } from "../../coordinator/quotas/account-limits.ts";
import type { JobQuota } from "../../coordinator/quotas/job-quota.ts";
import type { Scheduler } from "../../coordinator/scheduler/scheduler.ts";
import { Writer } from "../../coordinator/store/sqlite/engine/writer.ts";
import { NO_AUDITS, NO_STANDINGS } from "../support/no-standings.ts";
import { testEnv } from "../support/test-env.ts";
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
  /** Called when the coordinator would end its process. */
  readonly onFatal: (error: unknown) => void;
}

const MIB = 1_024 ** 2;
const HEARTBEAT_MS = 10_000;
const SECRET = Buffer.from("the secret of every simulation..");

/**
 * A coordinator from its start to its end. It consists of all parts between the HTTP API and the writer thread,
 * connected as in `openCoordinator`.
 */
export class CoordinatorLife {
  readonly clock: SimulatedClock;
  readonly store: SimulatedStore;
  readonly jobQuota: JobQuota;
  readonly registry: JobRegistry;
  readonly islands: IslandRegistry;
  readonly scheduler: Scheduler;
  readonly connections: IslandConnections;
  readonly jobs: JobApi;
  readonly batches: BatchService;
  /**
   * Feeds that were read. The simulation keeps them, because the time of garbage collection does not depend on the
   * seed.
   */
  readonly openFeeds = new Set<object>();
  /** Whether the coordinator accepts clients and Islands. */
  isServing = false;
  isDead = false;
  readonly #core: Core;
  readonly #disk: SimulatedDisk;

  constructor({ database, disk, time, random, onFatal: end }: LifeDeps) {
    this.#disk = disk;
    const clock = new SimulatedClock(time);
    const writer = new Writer(disk.startThread(), clock, () => {});
    const store = database.open(writer);
    const onFatal = (error: unknown): void => {
      if (!this.isDead) end(error);
    };
    const memory = {
      outputMemoryBytes: 64 * MIB,
      accountOutputMemoryBytes: 64 * MIB,
      islandOutputMemoryBytes: 64 * MIB,
      maxOutputBytes: MIB,
    };
    const config = {
      chatShare: 0.5,
      trialShare: 0.02,
      islandBackoffMs: 1_000,
      islandGraceMs: GRACE_MS,
      restartGraceMs: RESTART_GRACE_MS,
      maxAttempts: MAX_ATTEMPTS,
      networkFee: NETWORK_FEE,
      acceptLimitMs: PHASE_LIMITS.accept,
      startLimitMs: PHASE_LIMITS.start,
      firstOutputLimitMs: PHASE_LIMITS.first_output,
      silenceLimitMs: PHASE_LIMITS.silence,
      feedDelayMs: FEED_DELAY_MS,
      maxRunMs: 3_600_000,
      accountDailyBytes: 1_024 * MIB,
      priorityPrice: PRIORITY_PRICE,
      auditShare: 0.03,
      webhookAllowPrivate: false,
      heartbeatMs: HEARTBEAT_MS,
    };
    const env = testEnv(config, { clock, onFatal });
    const peers = openPeers({ id: store.cluster.selfId, address: "", version: env.version }, new LocalBus(), env);
    const network = { peers, seen: seenWork(peers, clock), learnTime: async () => undefined };
    const core = openCore(env, network, {
      store,
      catalog,
      refreshCatalog: async () => undefined,
      memory,
      checks: openChecks(clock),
      attemptTokens: attemptTokens(SECRET),
      signer,
      limitOf: async (accountId) => resolveLimits(await store.accounts.limits(accountId)).concurrentJobs,
      suspensionOf: () => null,
      headOf: async () => null,
      onWebhookDue: () => undefined,
      standings: NO_STANDINGS,
      random,
    });
    const { jobs: registry, submissions, router, explainWait } = core;
    this.#core = core;
    this.connections = core.connections;
    this.jobQuota = core.jobQuota;
    this.batches = core.batches;
    this.jobs = openJobService(
      clock,
      { jobs: store.jobs, webhooks: store.webhooks, audits: NO_AUDITS },
      registry,
      submissions,
      router,
      explainWait,
      () => null,
      async () => undefined,
    );
    this.clock = clock;
    this.store = store;
    this.registry = registry;
    this.islands = core.islands;
    this.scheduler = core.scheduler;
  }

  /** Restores the state of the previous life, then accepts clients and Islands. */
  async recover(): Promise<void> {
    await this.#core.restore();
    this.isServing = true;
  }

  /** Simulates SIGKILL. From now on, the coordinator reaches no disk, client or Island, and its timers do not fire. */
  kill(): void {
    this.isDead = true;
    this.isServing = false;
    this.#disk.cut();
    this.clock.stop();
  }
}

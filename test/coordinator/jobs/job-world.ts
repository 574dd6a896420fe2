import { generateKeyPairSync, randomBytes } from "node:crypto";
import { makeCatalog, type Catalog, type CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import type { Bus } from "../../../coordinator/bus/bus.ts";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { openPeers, type Peers } from "../../../coordinator/cluster/peers.ts";
import { seenWork, type SeenWork } from "../../../coordinator/cluster/seen-work.ts";
import { openCore, type Core } from "../../../coordinator/core.ts";
import { type Checks, openChecks } from "../../../coordinator/checks/checks.ts";
import { attemptTokens } from "../../../coordinator/dispatch/attempt-tokens.ts";
import type { Dispatcher } from "../../../coordinator/dispatch/dispatcher.ts";
import { cargoSigner, type CargoSigner } from "../../../coordinator/islands/cargo-signer.ts";
import type { IslandConnections } from "../../../coordinator/islands/island-connections.ts";
import type { IslandRegistry } from "../../../coordinator/islands/island-registry.ts";
import type { BatchService } from "../../../coordinator/jobs/batches/batch-service.ts";
import type { JobRegistry } from "../../../coordinator/jobs/job-registry.ts";
import { openJobService, type JobApi } from "../../../coordinator/jobs/job-service.ts";
import type { Submissions } from "../../../coordinator/jobs/submissions.ts";
import type { JobQuota } from "../../../coordinator/quotas/job-quota.ts";
import type { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEvent } from "../../../coordinator/scheduler/events.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { NO_STANDINGS } from "../../support/no-standings.ts";
import { testEnv } from "../../support/test-env.ts";

const GIB = 1_024 ** 3;
const MIB = 1_024 ** 2;
export const GRACE_MS = 15_000;
/** Time for which the circuit breaker of an Island stays open after a first failure. */
export const FIRST_PAUSE_MS = 1_000;
export const RESTART_GRACE_MS = 45_000;
export const NETWORK_FEE = 0.1;
export const PHASE_LIMITS = { accept: 5_000, start: 30_000, first_output: 60_000, silence: 60_000 };
/** Prices that neither shares nor fees divide evenly. */
export const PRICES = { free: 0, cheap: 1_000_003, dear: 2_500_001 } as const;
export type CargoName = keyof typeof PRICES;

/** The modules between the HTTP API and storage, on a real store, with simulated Islands and a manual clock. */
export class JobWorld {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly fatal: unknown[] = [];
  /** Logged warnings. */
  readonly warned: (readonly [facts: object, message: string])[] = [];
  /** Measurements that were reported to the scheduler. */
  readonly measured: Extract<SchedulerEvent, { kind: "run_ended" }>[] = [];
  readonly secret: Buffer;
  readonly jobQuota: JobQuota;
  readonly registry: JobRegistry;
  readonly connections: IslandConnections;
  readonly jobs: JobApi;
  readonly catalog: Catalog;
  readonly signer: CargoSigner;
  readonly islands: IslandRegistry;
  readonly scheduler: Scheduler;
  readonly dispatcher: Dispatcher;
  readonly batches: BatchService;
  readonly submissions: Submissions;
  readonly bus: Bus;
  readonly peers: Peers;
  readonly seen: SeenWork;
  readonly core: Core;
  readonly checks: Checks;
  /** Delays the checks of answers until it resolves, like expensive ones; null for no delay. */
  hold: Promise<void> | null = null;

  /**
   * @param secret The secret of an earlier world, which makes this world the coordinator after a restart. Call {@link
   * recover} in that case.
   * @param feedDelayMs 0: output is stored at once.
   * @param bus The bus of other coordinators; set the live ones in {@link peers}.
   */
  constructor(
    store: Store,
    clock: ManualClock,
    secret: Buffer = randomBytes(32),
    feedDelayMs = 0,
    bus: Bus = new LocalBus(),
  ) {
    this.secret = secret;
    this.bus = bus;
    this.store = store;
    this.clock = clock;
    const signer = cargoSigner(generateKeyPairSync("ed25519").privateKey);
    const catalog = makeCatalog(Object.keys(PRICES).map(makeCargo), { chat: "cheap" });
    const onFatal = (error: unknown): void => void this.fatal.push(error);
    const outputMemoryBytes = 64 * MIB;
    const memory = {
      outputMemoryBytes,
      accountOutputMemoryBytes: outputMemoryBytes,
      islandOutputMemoryBytes: outputMemoryBytes,
      maxOutputBytes: 16 * MIB,
    };
    const config = {
      chatShare: 0.5,
      trialShare: 0.02,
      islandBackoffMs: FIRST_PAUSE_MS,
      islandGraceMs: GRACE_MS,
      restartGraceMs: RESTART_GRACE_MS,
      heartbeatMs: 10_000,
      maxAttempts: 3,
      networkFee: NETWORK_FEE,
      auditShare: 0.03,
      acceptLimitMs: PHASE_LIMITS.accept,
      startLimitMs: PHASE_LIMITS.start,
      firstOutputLimitMs: PHASE_LIMITS.first_output,
      silenceLimitMs: PHASE_LIMITS.silence,
      maxRunMs: 3_600_000,
      feedDelayMs,
      accountDailyBytes: 1_024 * MIB,
      priorityPrice: 1,
      webhookAllowPrivate: false,
    };
    const warn = (...line: readonly [object, string]): void => void this.warned.push(line);
    const env = testEnv(config, { clock, onFatal, log: { ...testEnv().log, warn } });
    const peers = openPeers({ id: store.cluster.selfId, address: "", version: env.version }, bus, env);
    this.seen = seenWork(peers, clock);
    const network = { peers, seen: this.seen, learnTime: async () => undefined };
    this.checks = openChecks(clock);
    const core = openCore(env, network, {
      store,
      catalog,
      refreshCatalog: async () => undefined,
      memory,
      checks: {
        ...this.checks,
        answer: (...given) =>
          this.hold === null ? this.checks.answer(...given) : this.hold.then(() => this.checks.answer(...given)),
      },
      attemptTokens: attemptTokens(secret),
      signer,
      limitOf: async () => 10,
      suspensionOf: () => null,
      headOf: async () => null,
      onWebhookDue: () => undefined,
      standings: NO_STANDINGS,
      random: () => 0.5,
    });
    const { scheduler, jobs: registry, submissions, router, explainWait } = core;
    const step = scheduler.step.bind(scheduler);
    scheduler.step = (event, nowMs) => {
      if (event.kind === "run_ended") this.measured.push(event);
      return step(event, nowMs);
    };
    this.core = core;
    this.peers = peers;
    this.jobQuota = core.jobQuota;
    this.connections = core.connections;
    const removeContent = async (): Promise<void> => undefined;
    this.jobs = openJobService(
      clock,
      store,
      registry,
      submissions,
      router,
      explainWait,
      core.dispatcher.placementOf,
      removeContent,
    );
    this.registry = registry;
    this.submissions = submissions;
    this.catalog = catalog;
    this.signer = signer;
    this.islands = core.islands;
    this.scheduler = scheduler;
    this.dispatcher = core.dispatcher;
    this.batches = core.batches;
  }

  /** Restores the jobs of an earlier world on the same store. */
  async recover(): Promise<void> {
    await this.core.restore();
  }

  /** Resolves when all calls of the store have completed, including calls that follow from them. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await this.store.check();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  close(): void {
    this.core.close();
    void this.checks.close();
    this.core.router.close();
    this.peers.close();
  }
}

function makeCargo(slug: string, index: number): CatalogEntry {
  return {
    slug,
    workloadId: index + 1,
    createdAtMs: 0,
    name: slug,
    description: "",
    category: "llm",
    licence: "MIT",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: { url: "/models/tiny.gguf", sha256: null, sizeBytes: null },
    requiredRamBytes: GIB,
    requiredVramBytes: 0,
    contextTokens: 2_048,
    priceMicro: PRICES[slug as CargoName],
    runLimitMs: 300_000,
    waitLimitMs: 3_600_000,
    inputSchema: { type: "object" },
    exampleInput: { prompt: "hi" },
    outputSchema: {},
    isChat: true,
  };
}

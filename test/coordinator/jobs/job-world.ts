import { generateKeyPairSync, randomBytes } from "node:crypto";
import { makeCatalog, type Catalog, type CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import type { HeldJobClaims } from "../../../coordinator/dispatch/attempt-fencing.ts";
import { joinJobsAndIslands, openCore } from "../../../coordinator/core.ts";
import { attemptProofs } from "../../../coordinator/dispatch/attempt-proofs.ts";
import type { openDispatcher, Dispatcher } from "../../../coordinator/dispatch/dispatcher.ts";
import { recoverJobs } from "../../../coordinator/dispatch/recovery.ts";
import type { openWaitReasons } from "../../../coordinator/dispatch/wait-reasons.ts";
import { cargoSigner, type CargoSigner } from "../../../coordinator/islands/cargo-signer.ts";
import type { IslandConnections } from "../../../coordinator/islands/island-connections.ts";
import type { IslandRegistry } from "../../../coordinator/islands/island-registry.ts";
import type { BatchGate } from "../../../coordinator/jobs/batches/batch-gate.ts";
import { openBatchService, type BatchService } from "../../../coordinator/jobs/batches/batch-service.ts";
import type { JobRegistry } from "../../../coordinator/jobs/job-registry.ts";
import type { JobRouter } from "../../../coordinator/jobs/job-router.ts";
import { openJobService, type JobApi } from "../../../coordinator/jobs/job-service.ts";
import type { Submissions } from "../../../coordinator/jobs/submissions.ts";
import type { JobQuota } from "../../../coordinator/quotas/job-quota.ts";
import type { Scheduler, SchedulerEvent } from "../../../coordinator/scheduler/scheduler.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";

const GIB = 1_024 ** 3;
const MIB = 1_024 ** 2;
export const GRACE_MS = 15_000;
/** First pause of an Island that let a job down. */
export const FIRST_PAUSE_MS = 1_000;
export const RESTART_GRACE_MS = 45_000;
export const NETWORK_FEE = 0.1;
export const PHASE_LIMITS = { accept: 5_000, start: 30_000, first_output: 60_000, silence: 60_000 };
/** Prices that no share and no fee divides evenly. */
export const PRICES = { free: 0, cheap: 1_000_003, dear: 2_500_001 } as const;
export type CargoName = keyof typeof PRICES;

/** Everything between the HTTP API and storage, on a real store, with Islands that a test plays and a clock that it moves. */
export class JobWorld {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly fatal: unknown[] = [];
  /** What the scheduler was told of runs. */
  readonly measured: Extract<SchedulerEvent, { kind: "measured" }>[] = [];
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
  readonly explainWait: ReturnType<typeof openWaitReasons>;
  /** Where several worlds share the jobs. */
  claims: HeldJobClaims | undefined;
  /** Who finds jobs that other coordinators have, where there are several. */
  router: JobRouter | undefined;
  elsewhere: Parameters<typeof openWaitReasons>[4] = () => null;
  outlooksElsewhere: Parameters<typeof openDispatcher>[6] = async () => [];
  couldReadersCome = (_sinceMs: number): boolean => true;
  readonly #gate: BatchGate;

  /**
   * @param secret with that of an earlier world, this one is the coordinator after a restart; call {@link recover} then.
   * @param feedDelayMs 0: output is stored at once.
   */
  constructor(store: Store, clock: ManualClock, secret: Buffer = randomBytes(32), feedDelayMs = 0) {
    this.secret = secret;
    this.store = store;
    this.clock = clock;
    const proofs = attemptProofs(secret);
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
      islandBackoffMs: FIRST_PAUSE_MS,
      islandGraceMs: GRACE_MS,
      restartGraceMs: RESTART_GRACE_MS,
      heartbeatMs: 10_000,
      maxAttempts: 3,
      networkFee: NETWORK_FEE,
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
    const env = testEnv(config, { clock, onFatal });
    const core = openCore(env, {
      store,
      catalog,
      memory,
      limitOf: async () => 10,
      onWebhookDue: () => undefined,
      seen: {
        couldHearSince: (sinceMs) => this.couldReadersCome(sinceMs),
        elsewhere: (kind) => this.elsewhere(kind),
        mayRunElsewhere: () => false,
      },
      random: () => 0.5,
    });
    const { scheduler, jobs: registry, islands, submissions, gate, explainWait } = core;
    const step = scheduler.step.bind(scheduler);
    scheduler.step = (event, nowMs) => {
      if (event.kind === "measured") this.measured.push(event);
      return step(event, nowMs);
    };
    const { dispatcher, connections } = joinJobsAndIslands(env, core, proofs, signer, {
      outlooksFor: (kind) => this.outlooksElsewhere(kind),
      claims: { claim: async (...held) => this.claims?.claim(...held) },
    });
    this.jobQuota = core.jobQuota;
    this.connections = connections;
    this.explainWait = explainWait;
    const removeContent = async (): Promise<void> => undefined;
    const router: JobRouter = { find: async (jobId) => this.router?.find(jobId) };
    this.jobs = openJobService(clock, store, registry, submissions, router, explainWait, removeContent);
    this.registry = registry;
    this.submissions = submissions;
    this.catalog = catalog;
    this.signer = signer;
    this.islands = islands;
    this.scheduler = scheduler;
    this.dispatcher = dispatcher;
    this.batches = openBatchService(clock, store, registry, submissions, gate, router);
    this.#gate = gate;
  }

  /** Restores what an earlier world on the same store left. */
  async recover(): Promise<void> {
    await recoverJobs(this.store, this.registry, this.islands);
  }

  /** Resolves when all that was asked of the store has been answered, and what follows from the answers too. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await this.store.check();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  close(): void {
    this.registry.close();
    this.islands.close();
    this.#gate.close();
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

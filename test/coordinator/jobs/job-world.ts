import { generateKeyPairSync, randomBytes } from "node:crypto";
import { pino } from "pino";
import { makeCatalog, type Catalog, type CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import { AttemptFencing, type HeldJobClaims } from "../../../coordinator/dispatch/attempt-fencing.ts";
import { AttemptProofs } from "../../../coordinator/dispatch/attempt-proofs.ts";
import { Dispatcher } from "../../../coordinator/dispatch/dispatcher.ts";
import { recoverJobs } from "../../../coordinator/dispatch/recovery.ts";
import type { UnrunnableJobsDeps } from "../../../coordinator/dispatch/unrunnable-jobs.ts";
import { WaitReasons, type WaitReasonsDeps } from "../../../coordinator/dispatch/wait-reasons.ts";
import { CargoSigner } from "../../../coordinator/islands/cargo-signer.ts";
import { IslandConnections } from "../../../coordinator/islands/island-connections.ts";
import { IslandRegistry } from "../../../coordinator/islands/island-registry.ts";
import { BatchGate } from "../../../coordinator/jobs/batches/batch-gate.ts";
import { BatchService } from "../../../coordinator/jobs/batches/batch-service.ts";
import { JobRegistry } from "../../../coordinator/jobs/job-registry.ts";
import type { JobRouter } from "../../../coordinator/jobs/job-router.ts";
import { JobService } from "../../../coordinator/jobs/job-service.ts";
import { Submissions } from "../../../coordinator/jobs/submissions.ts";
import { DailyStorage } from "../../../coordinator/quotas/daily-storage.ts";
import { outputBudget as makeOutputBudget } from "../../../coordinator/quotas/output-budget.ts";
import { JobQuota } from "../../../coordinator/quotas/job-quota.ts";
import { Scheduler, type SchedulerEvent } from "../../../coordinator/scheduler/scheduler.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import type { ManualClock } from "../../support/manual-clock.ts";

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
  readonly jobQuota = new JobQuota();
  readonly registry: JobRegistry;
  readonly connections: IslandConnections;
  readonly jobs: JobService;
  readonly catalog: Catalog;
  readonly signer: CargoSigner;
  readonly islands: IslandRegistry;
  readonly scheduler: Scheduler;
  readonly dispatcher: Dispatcher;
  readonly batches: BatchService;
  readonly submissions: Submissions;
  readonly explainWait: WaitReasons["of"];
  /** Where several worlds share the jobs. */
  claims: HeldJobClaims | undefined;
  /** Who finds jobs that other coordinators have, where there are several. */
  router: JobRouter | undefined;
  elsewhere: WaitReasonsDeps["elsewhere"] = () => null;
  others: NonNullable<UnrunnableJobsDeps["others"]> = { outlooksFor: async () => [] };
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
    const { jobQuota } = this;
    const proofs = new AttemptProofs(secret);
    const signer = new CargoSigner(generateKeyPairSync("ed25519").privateKey);
    const catalog = makeCatalog(Object.keys(PRICES).map(makeCargo), { chat: "cheap" });
    const cargos = (slug: string) => catalog.known(slug);
    const scheduler = new Scheduler({ cargos, chatShare: 0.5, firstPauseMs: FIRST_PAUSE_MS, random: () => 0.5 });
    const onFatal = (error: unknown): void => void this.fatal.push(error);
    const outputMemoryBytes = 64 * MIB;
    const dailyStorage = new DailyStorage(clock, 1_024 * MIB);
    const outputBudget = makeOutputBudget({
      outputMemoryBytes,
      accountOutputMemoryBytes: outputMemoryBytes,
      islandOutputMemoryBytes: outputMemoryBytes,
    });
    const memory = { outputBudget, maxOutputBytes: 16 * MIB };
    const options = {
      graceMs: GRACE_MS,
      restartGraceMs: RESTART_GRACE_MS,
      maxAttempts: 3,
      networkFee: NETWORK_FEE,
      dailyStorage,
      phaseLimits: PHASE_LIMITS,
      maxRunMs: 3_600_000,
      feedDelayMs,
      couldReadersCome: (sinceMs: number) => this.couldReadersCome(sinceMs),
      ...memory,
    };
    const onWebhookDue = (): void => undefined;
    const registry = new JobRegistry({ store, catalog, jobQuota, clock, onWebhookDue, onFatal, ...options });
    const gate = new BatchGate({ jobs: registry, quota: jobQuota, clock, limitOf: async () => 10, onFatal });
    const islands = new IslandRegistry({ clock, graceMs: GRACE_MS, restartGraceMs: RESTART_GRACE_MS });
    const elsewhere: WaitReasonsDeps["elsewhere"] = (kind) => this.elsewhere(kind);
    const waitReasons = new WaitReasons({ scheduler, islands, gate, clock, elsewhere });
    const log = pino({ level: "silent" });
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
      others: { outlooksFor: (kind) => this.others.outlooksFor(kind) },
    });
    const schedule: Dispatcher["schedule"] = (event) => dispatcher.schedule(event);
    const reports = new AttemptFencing({
      jobs: registry,
      islands,
      proofs,
      clock,
      measure: (run) => {
        this.measured.push(run);
        dispatcher.schedule(run);
      },
      letDown: schedule,
      hasOtherIsland: (job) => dispatcher.hasOtherIsland(job),
      log,
      claims: { claim: async (...held) => this.claims?.claim(...held) },
    });
    const heartbeatMs = 10_000;
    this.connections = new IslandConnections({
      store,
      registry: islands,
      reports,
      signer,
      catalog,
      clock,
      heartbeatMs,
      quarantineOf: (hostId) => scheduler.quarantineOf(hostId, clock.monotonicMs()),
    });
    const prices = { webhookAllowPrivate: false, priorityPrice: 1 };
    const submissions = new Submissions({ store, catalog, clock, dailyStorage, ...prices });
    const explainWait = waitReasons.of.bind(waitReasons);
    this.explainWait = explainWait;
    const removeContent = async (): Promise<void> => undefined;
    const router: JobRouter = { find: async (jobId) => this.router?.find(jobId) };
    const services = { store, jobs: registry, submissions, clock, router };
    this.jobs = new JobService({ ...services, removeContent, jobQuota, explainWait });
    this.registry = registry;
    this.submissions = submissions;
    this.catalog = catalog;
    this.signer = signer;
    this.islands = islands;
    this.scheduler = scheduler;
    this.dispatcher = dispatcher;
    this.batches = new BatchService({ ...services, gate });
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

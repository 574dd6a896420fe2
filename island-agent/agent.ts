import type { ModelRef, RuntimeType } from "../shared/cargo.ts";
import type { Clock, Timer } from "../shared/clock.ts";
import type { Hardware } from "../shared/hardware.ts";
import type { Welcome } from "../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello, IslandState, RuntimeReport } from "../shared/protocol/from-island.ts";
import { CargoPool } from "./cargo-pool.ts";
import { Executor, type ExecutorCounts } from "./executor.ts";
import type { ModelStore } from "./models/model-store.ts";
import type { CargoRuntime } from "./runtimes/runtime.ts";
import { Backoff } from "./session/backoff.ts";
import { runSession, type LinkHandlers, type Served } from "./session/coordinator-link.ts";
import { Outbox } from "./session/outbox.ts";

export interface AgentOptions {
  readonly coordinatorUrl: string;
  readonly token: string;
  readonly hostId: string;
  readonly version: string;
  readonly slots: number;
  /** Longest wait for running jobs after `drain`. */
  readonly drainLimitMs: number;
}

export interface AgentDeps {
  readonly clock: Clock;
  readonly hardware: Hardware;
  /** Usable runtimes with their versions. */
  readonly runtimes: ReadonlyMap<RuntimeType, { readonly runtime: CargoRuntime; readonly version: string }>;
  readonly models: ModelStore;
  /** Load of the machine now. */
  readonly usage: () => Pick<IslandState, "cpuLoad" | "freeRamBytes" | "freeVramBytes">;
  readonly log: (message: string, facts: object) => void;
  /** Called at the first welcome. */
  readonly onConnected: () => void;
}

export type LinkState = "connecting" | "connected" | "waiting" | "stopped";

/** What `island status` shows. */
export interface AgentStatus {
  readonly link: LinkState;
  readonly coordinatorUrl: string;
  readonly hostId: string;
  readonly isDraining: boolean;
  readonly slots: number;
  readonly runtimes: readonly RuntimeReport[];
  readonly loaded: readonly string[];
  readonly running: ReturnType<Executor["running"]>;
  readonly counts: ExecutorCounts;
  readonly reconnects: number;
  readonly lastProblem: string | null;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** Changes of what is loaded or on its way are told between heartbeats, together. */
const REPORT_DELAY_MS = 500;
/** How long a stopping agent waits for its last results to be acknowledged. */
const FAREWELL_LIMIT_MS = 2_000;

/** One Island: keeps a session with its coordinator and runs what it is assigned. */
export class IslandAgent {
  readonly #options: AgentOptions;
  readonly #deps: AgentDeps;
  readonly #outbox = new Outbox();
  readonly #pool: CargoPool;
  readonly #executor: Executor;
  readonly #leave = new AbortController();
  #send: ((frame: FromIsland) => void) | null = null;
  #link: LinkState = "connecting";
  #report: Timer | null = null;
  #isDraining = false;
  #sessions = 0;
  #lastProblem: string | null = null;

  constructor(options: AgentOptions, deps: AgentDeps) {
    this.#options = options;
    this.#deps = deps;
    const { clock, models, log, hardware } = deps;
    const runtimes = new Map([...deps.runtimes].map(([type, { runtime }]) => [type, runtime]));
    const onChange = (): void => this.#reportSoon();
    this.#pool = new CargoPool({ runtimes, models, clock, log, onChange, ramBytes: hardware.ramBytes });
    this.#executor = new Executor({ outbox: this.#outbox, pool: this.#pool, clock, log });
  }

  status(): AgentStatus {
    const { coordinatorUrl, hostId, slots } = this.#options;
    return {
      link: this.#link,
      coordinatorUrl,
      hostId,
      slots,
      isDraining: this.#isDraining,
      runtimes: this.#runtimeReports(),
      loaded: this.#pool.loaded(),
      running: this.#executor.running(),
      counts: { ...this.#executor.counts },
      reconnects: Math.max(0, this.#sessions - 1),
      lastProblem: this.#lastProblem,
    };
  }

  /** Serves until `stop` or `drain` is done, or the coordinator sends the Island away for good. Returns why it ended. */
  async run(): Promise<string> {
    const { clock, log } = this.#deps;
    const backoff = new Backoff(FIRST_RETRY_MS, LONGEST_RETRY_MS);
    const { coordinatorUrl, token } = this.#options;
    while (!this.#leave.signal.aborted) {
      this.#link = "connecting";
      const end = await runSession(coordinatorUrl, token, clock, this.#handlers(backoff), this.#leave.signal);
      if (end.kind === "refused") return this.#finish(end.reason);
      this.#lastProblem = end.reason;
      this.#link = "waiting";
      const waitMs = end.afterMs === null ? backoff.nextMs() : end.afterMs + backoff.nextMs();
      log("Session ended", { reason: end.reason, retryInMs: Math.round(waitMs) });
      // Stopping cuts the wait short.
      await clock.sleep(waitMs, this.#leave.signal).catch(() => undefined);
    }
    return this.#finish("the agent stops");
  }

  /** Takes no new job, finishes those in hand (at most `drainLimitMs`), then leaves. */
  async drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#send?.({ type: "draining" });
    const { clock } = this.#deps;
    const limit = new AbortController();
    const timeout = clock.sleep(this.#options.drainLimitMs, limit.signal).then(
      () => this.#executor.giveUp(),
      () => undefined,
    );
    await this.#executor.idle();
    limit.abort();
    await timeout;
    await this.stop();
  }

  /** Gives back what is running, and leaves as soon as that is told. */
  async stop(): Promise<void> {
    this.#isDraining = true;
    this.#executor.giveUp();
    await this.#executor.idle();
    const deadlineMs = this.#deps.clock.monotonicMs() + FAREWELL_LIMIT_MS;
    while (!this.#outbox.isEmpty && this.#send !== null && this.#deps.clock.monotonicMs() < deadlineMs) {
      await this.#deps.clock.sleep(10);
    }
    this.#leave.abort(new Error("the agent stops"));
  }

  async #finish(reason: string): Promise<string> {
    this.#link = "stopped";
    this.#executor.giveUp();
    await this.#executor.idle();
    await this.#pool.close();
    this.#report?.cancel();
    return reason;
  }

  #handlers(backoff: Backoff): LinkHandlers {
    return {
      hello: () => this.#hello(),
      state: () => this.#state(),
      onWelcome: (welcome, send) => {
        backoff.reset();
        this.#onWelcome(welcome, send);
      },
      onFrame: (frame) => this.#onFrame(frame),
      onLost: () => {
        this.#send = null;
        this.#outbox.disconnect();
      },
    };
  }

  #onWelcome(welcome: Welcome, send: (frame: FromIsland) => void): void {
    this.#sessions += 1;
    this.#link = "connected";
    this.#send = send;
    this.#executor.applyDecisions(welcome.held);
    this.#outbox.connect(send, welcome.held);
    if (this.#isDraining) send({ type: "draining" });
    if (this.#sessions === 1) this.#deps.onConnected();
    this.#deps.log("Connected", { session: welcome.sessionId, held: welcome.held.length });
  }

  #onFrame(frame: Served): void {
    switch (frame.type) {
      case "assign":
        return this.#executor.assign(frame, this.#isDraining);
      case "cancel":
        return this.#executor.cancel(frame);
      case "ack":
        return this.#outbox.acknowledge(frame.jobId, frame.attempt, frame.seq);
      case "preload":
        return void this.#preload(frame.cargo.slug, frame.cargo.model);
      default:
        return frame satisfies never;
    }
  }

  async #preload(slug: string, model: ModelRef | null): Promise<void> {
    if (model === null) return;
    try {
      const lease = await this.#deps.models.acquire(slug, model, this.#leave.signal);
      lease.release();
      this.#reportSoon();
    } catch (error) {
      this.#deps.log("Preload failed", { slug, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #reportSoon(): void {
    this.#report ??= this.#deps.clock.schedule(REPORT_DELAY_MS, () => {
      this.#report = null;
      this.#send?.({ type: "heartbeat", state: this.#state() });
    });
  }

  #runtimeReports(): RuntimeReport[] {
    return [...this.#deps.runtimes].map(([type, { version }]) => ({ type, version }));
  }

  #hello(): Hello {
    const { hostId, version, slots } = this.#options;
    return {
      type: "hello",
      hostId,
      agentVersion: version,
      hardware: this.#deps.hardware,
      runtimes: this.#runtimeReports(),
      slots,
      draining: this.#isDraining,
      held: this.#outbox.held(),
      state: this.#state(),
    };
  }

  #state(): IslandState {
    const { models, usage } = this.#deps;
    return {
      ...usage(),
      cachedModels: models.list().map(({ key, bytes }) => ({ key, bytes })),
      loaded: this.#pool.loaded(),
      downloads: models.downloads().map(({ slug, fraction }) => ({ slug, fraction })),
    };
  }
}

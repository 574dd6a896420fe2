import type { CargoManifest, RuntimeType } from "../shared/cargo.ts";
import type { Clock, Timer } from "../shared/clock.ts";
import type { Hardware } from "../shared/hardware.ts";
import type { Welcome } from "../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello, IslandState, RuntimeReport } from "../shared/protocol/from-island.ts";
import type { AgentLog } from "./agent-log.ts";
import type { CargoFiles } from "./cargo-files.ts";
import { CargoPool, type LoadedReport } from "./cargo-pool.ts";
import { Executor, type ExecutorCounts } from "./executor.ts";
import { memoryCapsOf } from "./memory-room.ts";
import { orAbort } from "./or-abort.ts";
import type { CargoRuntime, MemoryUse } from "./runtimes/runtime.ts";
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
  /** Longest wait after that until the last results are acknowledged, reconnecting if need be. */
  readonly farewellLimitMs: number;
}

export interface AgentDeps {
  readonly clock: Clock;
  readonly hardware: Hardware;
  /** Usable runtimes with their versions. */
  readonly runtimes: ReadonlyMap<RuntimeType, { readonly runtime: CargoRuntime; readonly version: string }>;
  readonly files: Pick<CargoFiles, "acquire" | "cached" | "downloads">;
  /** Load of the machine now. */
  readonly usage: () => Pick<IslandState, "cpuLoad" | "freeRamBytes" | "freeVramBytes">;
  readonly log: AgentLog;
  /** Called at the first welcome. */
  readonly onConnected: () => void;
  /** 0 (included) to 1 (excluded); spreads the tries to reconnect. */
  readonly random?: () => number;
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
  readonly loaded: readonly LoadedReport[];
  /** Most that Cargos in memory may take together. */
  readonly memoryCaps: { readonly ramBytes: number; readonly vramBytes: number | null };
  readonly running: ReturnType<Executor["running"]>;
  readonly counts: ExecutorCounts;
  readonly reconnects: number;
  readonly lastProblem: string | null;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** Changes of what is loaded or on its way are told between heartbeats, together. */
const REPORT_DELAY_MS = 500;
/** How long an agent that is told to stop waits for the coordinator to take its jobs back. */
const STOP_LIMIT_MS = 2_000;
/** Longest lists and texts that a report may hold. Source: shared/protocol/from-island.ts. */
const MOST = { cachedModels: 10_000, loaded: 1_000, downloads: 1_000, version: 100 } as const;

/** One Island: keeps a session with its coordinator and runs what it is assigned. */
export class IslandAgent {
  readonly #options: AgentOptions;
  readonly #deps: AgentDeps;
  readonly #outbox = new Outbox();
  readonly #caps: MemoryUse;
  readonly #pool: CargoPool;
  readonly #executor: Executor;
  readonly #leave = new AbortController();
  readonly #backoff: Backoff;
  /** Ends the present wait before the next try to connect. */
  #hurry = new AbortController();
  #send: ((frame: FromIsland) => void) | null = null;
  #link: LinkState = "connecting";
  #report: Timer | null = null;
  #isDraining = false;
  #sessions = 0;
  #lastProblem: string | null = null;

  constructor(options: AgentOptions, deps: AgentDeps) {
    this.#options = options;
    this.#deps = deps;
    const { clock, files, log, hardware } = deps;
    this.#backoff = new Backoff(FIRST_RETRY_MS, LONGEST_RETRY_MS, deps.random);
    const runtimes = new Map([...deps.runtimes].map(([type, { runtime }]) => [type, runtime]));
    const onChange = (): void => this.#reportSoon();
    this.#caps = memoryCapsOf(hardware);
    this.#pool = new CargoPool({ runtimes, files, clock, log, onChange, caps: this.#caps });
    this.#executor = new Executor({ outbox: this.#outbox, pool: this.#pool, clock, log, slots: options.slots });
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
      memoryCaps: {
        ramBytes: this.#caps.ramBytes,
        vramBytes: Number.isFinite(this.#caps.vramBytes) ? this.#caps.vramBytes : null,
      },
      running: this.#executor.running(),
      counts: { ...this.#executor.counts },
      reconnects: Math.max(0, this.#sessions - 1),
      lastProblem: this.#lastProblem,
    };
  }

  /** Serves until `stop` or `drain` is done, or the coordinator sends the Island away for good. Returns why it ended. */
  async run(): Promise<string> {
    const { clock, log } = this.#deps;
    const { coordinatorUrl, token } = this.#options;
    while (!this.#leave.signal.aborted) {
      this.#link = "connecting";
      const end = await runSession(coordinatorUrl, token, clock, this.#handlers(), this.#leave.signal);
      if (end.kind === "refused") return this.#finish(end.reason);
      this.#lastProblem = end.reason;
      this.#link = "waiting";
      const waitMs = (end.afterMs ?? 0) + this.#backoff.nextMs();
      this.#hurry = new AbortController();
      log.info({ reason: end.reason, retryInMs: Math.round(waitMs) }, "Session ended");
      // Leaving cuts the wait short.
      await clock.sleep(waitMs, AbortSignal.any([this.#leave.signal, this.#hurry.signal])).catch(() => undefined);
    }
    return this.#finish("the agent stops");
  }

  /**
   * Takes no new job, finishes those in hand (at most `drainLimitMs`), and leaves as soon as the coordinator has all
   * results. Without a session it is tried again to get one, at most for `farewellLimitMs`.
   */
  async drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#send?.({ type: "draining" });
    const limit = this.#deps.clock.schedule(this.#options.drainLimitMs, () => this.#executor.giveUp());
    await this.#executor.idle();
    limit.cancel();
    if (this.#send === null) {
      this.#backoff.reset();
      this.#hurry.abort();
    }
    await this.#farewell(this.#options.farewellLimitMs);
    this.#leaveNow();
  }

  /** Gives back what is running and leaves as soon as that is told; with nothing running, or no session, at once. */
  async stop(): Promise<void> {
    this.#isDraining = true;
    if (!this.#executor.isIdle) {
      this.#executor.giveUp();
      await this.#executor.idle();
      if (this.#send !== null) await this.#farewell(STOP_LIMIT_MS);
    }
    this.#leaveNow();
  }

  /** Waits until all is acknowledged, the agent leaves, or the time is up. */
  async #farewell(limitMs: number): Promise<void> {
    const limit = new AbortController();
    const timer = this.#deps.clock.schedule(limitMs, () => limit.abort());
    await orAbort(this.#outbox.emptied(), AbortSignal.any([limit.signal, this.#leave.signal])).catch(() => undefined);
    timer.cancel();
  }

  #leaveNow(): void {
    this.#leave.abort(new Error("the agent stops"));
  }

  async #finish(reason: string): Promise<string> {
    this.#link = "stopped";
    this.#leaveNow();
    this.#executor.giveUp();
    await this.#executor.idle();
    await this.#pool.close();
    this.#report?.cancel();
    return reason;
  }

  #handlers(): LinkHandlers {
    return {
      hello: () => this.#hello(),
      state: () => this.#state(),
      onWelcome: (welcome, send) => this.#onWelcome(welcome, send),
      onSettled: () => this.#backoff.reset(),
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
    this.#outbox.connect(send, welcome.held, welcome.maxFrameBytes);
    if (this.#isDraining) send({ type: "draining" });
    if (this.#sessions === 1) this.#deps.onConnected();
    this.#deps.log.info({ session: welcome.sessionId, held: welcome.held.length }, "Connected");
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
        return void this.#preload(frame.cargo);
      default:
        return frame satisfies never;
    }
  }

  async #preload(cargo: CargoManifest): Promise<void> {
    try {
      const lease = await this.#deps.files.acquire(cargo, this.#leave.signal, () => this.#reportSoon());
      lease.release();
      this.#reportSoon();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#deps.log.warn({ slug: cargo.slug, reason }, "Preload failed");
    }
  }

  #reportSoon(): void {
    this.#report ??= this.#deps.clock.schedule(REPORT_DELAY_MS, () => {
      this.#report = null;
      this.#send?.({ type: "heartbeat", state: this.#state() });
    });
  }

  #runtimeReports(): RuntimeReport[] {
    return [...this.#deps.runtimes].map(([type, { version }]) => ({ type, version: version.slice(0, MOST.version) }));
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
    const { files, usage } = this.#deps;
    const slugs = this.#pool.loaded().map(({ slug }) => slug);
    return {
      ...usage(),
      cachedModels: files.cached().slice(0, MOST.cachedModels),
      loaded: [...new Set(slugs)].slice(0, MOST.loaded),
      downloads: files.downloads().slice(0, MOST.downloads),
    };
  }
}

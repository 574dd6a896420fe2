import type { RuntimeType } from "../shared/cargo.ts";
import type { Clock, Timer } from "../shared/clock.ts";
import type { Hardware } from "../shared/hardware.ts";
import type { Assign, Welcome } from "../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello, IslandState, RuntimeReport } from "../shared/protocol/from-island.ts";
import type { Logger } from "../shared/logger.ts";
import type { Availability } from "./availability/availability.ts";
import type { CargoFiles } from "./artifacts/cargo-files.ts";
import { CargoPool, type LoadedReport } from "./execution/cargo-pool.ts";
import { Executor, type ExecutorCounts } from "./execution/executor.ts";
import { memoryCapsOf } from "./execution/memory-budget.ts";
import { abortable } from "../shared/abortable.ts";
import { Preloader, type PreloadStatus } from "./preload/preloader.ts";
import { Pulls, type PullStatus } from "./preload/pulls.ts";
import type { Recommendation } from "./preload/recommendations.ts";
import type { CargoRuntime, MemoryUse } from "./runtimes/runtime.ts";
import { Backoff } from "./session/backoff.ts";
import { CargoTrust } from "./session/cargo-trust.ts";
import { runSession, type LinkHandlers, type Served } from "./session/coordinator-link.ts";
import { Outbox } from "./session/outbox.ts";

export interface AgentOptions {
  readonly coordinatorUrl: string;
  readonly token: string;
  /** The coordinator's, pinned at join; base64. Nothing runs that it has not signed. */
  readonly publicKey: string;
  /** Whose Island it is, as the coordinator said at join; null: not known, and Cargos of an account's own are refused. */
  readonly accountId: string | null;
  readonly hostId: string;
  readonly version: string;
  readonly slots: number;
  /** Longest wait after that until the last results are acknowledged, reconnecting if need be. */
  readonly farewellLimitMs: number;
}

export interface AgentDeps {
  readonly clock: Clock;
  readonly hardware: Hardware;
  /** Usable runtimes with their versions. */
  readonly runtimes: ReadonlyMap<RuntimeType, { readonly runtime: CargoRuntime; readonly version: string }>;
  readonly files: Pick<
    CargoFiles,
    "acquire" | "pull" | "preload" | "makeRoom" | "bytesOnDisk" | "cached" | "downloads"
  >;
  /** Whether new jobs are taken; belongs to the agent from here on. */
  readonly availability: Availability;
  /** Asks the coordinator what to have on disk; null: the owner does not want that. */
  readonly recommend: ((hostId: string, signal: AbortSignal) => Promise<readonly Recommendation[]>) | null;
  /** Load of the machine now. */
  readonly usage: () => Pick<IslandState, "cpuLoad" | "freeRamBytes" | "freeVramBytes">;
  /** RAM that a load can have now; null when unknown. */
  readonly freeRamBytes: () => number | null;
  readonly log: Logger;
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
  /** Why no new jobs are taken; null while they are. */
  readonly closedBecause: string | null;
  readonly slots: number;
  readonly runtimes: readonly RuntimeReport[];
  readonly loaded: readonly LoadedReport[];
  /** Most that Cargos in memory may take together. */
  readonly memoryCaps: { readonly ramBytes: number; readonly vramBytes: number | null };
  readonly running: ReturnType<Executor["running"]>;
  readonly counts: ExecutorCounts;
  /** Null when it is switched off. */
  readonly preload: PreloadStatus | null;
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
  readonly #trust: CargoTrust;
  readonly #leave = new AbortController();
  readonly #backoff: Backoff;
  /** Ends the present wait before the next try to connect. */
  #hurry = new AbortController();
  #send: ((frame: FromIsland) => void) | null = null;
  #link: LinkState = "connecting";
  #report: Timer | null = null;
  readonly #preloader: Preloader | null;
  readonly #pulls: Pulls;
  /** What the coordinator was last told. */
  #saidOpen = true;
  #sessions = 0;
  readonly #whenConnected = Promise.withResolvers<void>();
  #preloading: Promise<void> | undefined;
  /** When the jobs in hand are given back after all. */
  #drainLimit: Timer | null = null;
  #lastProblem: string | null = null;

  constructor(options: AgentOptions, deps: AgentDeps) {
    this.#options = options;
    this.#deps = deps;
    const { clock, files, log, hardware } = deps;
    this.#backoff = new Backoff(FIRST_RETRY_MS, LONGEST_RETRY_MS, deps.random);
    this.#trust = new CargoTrust(options.publicKey, options.accountId, log);
    const runtimes = new Map([...deps.runtimes].map(([type, { runtime }]) => [type, runtime]));
    const onChange = (): void => this.#reportSoon();
    this.#caps = memoryCapsOf(hardware);
    const { freeRamBytes } = deps;
    this.#pool = new CargoPool({ runtimes, files, clock, log, onChange, caps: this.#caps, freeRamBytes });
    this.#preloader = this.#makePreloader();
    this.#pulls = new Pulls({ clock, files, onChange, want: (slugs) => this.#want(slugs) });
    deps.availability.onChange = () => {
      this.#tellAvailability();
      this.#preloader?.onAvailability();
    };
    this.#executor = new Executor({ outbox: this.#outbox, pool: this.#pool, clock, log, slots: options.slots });
  }

  status(): AgentStatus {
    const { coordinatorUrl, hostId, slots } = this.#options;
    return {
      link: this.#link,
      coordinatorUrl,
      hostId,
      slots,
      closedBecause: this.#deps.availability.closedBecause,
      runtimes: this.#runtimeReports(),
      loaded: this.#pool.loaded(),
      memoryCaps: {
        ramBytes: this.#caps.ramBytes,
        vramBytes: Number.isFinite(this.#caps.vramBytes) ? this.#caps.vramBytes : null,
      },
      running: this.#executor.running(),
      counts: { ...this.#executor.counts },
      preload: this.#preloader?.status() ?? null,
      reconnects: Math.max(0, this.#sessions - 1),
      lastProblem: this.#lastProblem,
    };
  }

  /** Serves until `stop` or `drain` is done, or the coordinator sends the Island away for good. Returns why it ended. */
  async run(): Promise<string> {
    const { clock, log } = this.#deps;
    const { coordinatorUrl, token } = this.#options;
    this.#preloading = this.#whenConnected.promise.then(() => this.#preloader?.run(this.#leave.signal));
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

  /** Fetches what a Cargo needs, as its owner wishes. @throws {CliError} when there is no session to ask for it in. */
  pull(slug: string): void {
    this.#pulls.begin(slug);
  }

  /** What was pulled since the start, or is. */
  pulls(): PullStatus[] {
    return this.#pulls.status();
  }

  /** Takes no new jobs until `resume`; those in hand go on. */
  pause(): void {
    this.#deps.availability.pause();
  }

  resume(): void {
    this.#deps.availability.resume();
  }

  /**
   * Takes no new job, finishes those in hand, and leaves as soon as the coordinator has all results. Without a session it is
   * tried again to get one, at most for `farewellLimitMs`.
   * @param limitMs when jobs that still run are given back; null: they have as long as their own limits allow. While it
   * drains already, a limit is set still, and null changes nothing.
   */
  async drain(limitMs: number | null): Promise<void> {
    const { availability, clock } = this.#deps;
    if (this.#leave.signal.aborted) return;
    if (limitMs !== null) this.#drainLimit ??= clock.schedule(limitMs, () => this.#executor.giveUp());
    if (availability.isDraining) return;
    availability.drain();
    await this.#executor.idle();
    this.#drainLimit?.cancel();
    if (this.#send === null) {
      this.#backoff.reset();
      this.#hurry.abort();
    }
    await this.#farewell(this.#options.farewellLimitMs);
    this.#leaveNow();
  }

  /** Gives back what is running and leaves as soon as that is told; with nothing running, or no session, at once. */
  async stop(): Promise<void> {
    this.#deps.availability.drain();
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
    await abortable(this.#outbox.emptied(), AbortSignal.any([limit.signal, this.#leave.signal])).catch(() => undefined);
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
    this.#drainLimit?.cancel();
    await this.#pool.close();
    this.#whenConnected.resolve();
    await this.#preloading;
    await this.#pulls.close();
    this.#deps.availability[Symbol.dispose]();
    this.#report?.cancel();
    return reason;
  }

  #handlers(): LinkHandlers {
    return {
      hello: () => this.#hello(),
      state: () => this.#state(),
      distrust: (publicKey) => this.#trust.changeOf(publicKey),
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
    this.#tellAvailability();
    if (this.#sessions === 1) this.#deps.onConnected();
    this.#whenConnected.resolve();
    this.#deps.log.info({ session: welcome.sessionId, held: welcome.held.length }, "Connected");
  }

  #onFrame(frame: Served): void {
    switch (frame.type) {
      case "assign":
        return this.#assign(frame);
      case "cancel":
        return this.#executor.cancel(frame);
      case "ack":
        return this.#outbox.acknowledge(frame.jobId, frame.attempt, frame.seq);
      case "preload":
        if (this.#trust.problemOf(frame) !== null) return undefined;
        if (this.#pulls.offer(frame.cargo, this.#leave.signal)) return undefined;
        return this.#preloader?.offer(frame.cargo, this.#leave.signal);
      default:
        return frame satisfies never;
    }
  }

  #assign(frame: Assign): void {
    const message = this.#trust.problemOf(frame);
    if (message === null) return this.#executor.assign(frame, this.#deps.availability.closedBecause);
    const { jobId, attempt } = frame;
    return this.#outbox.refuse({ type: "refused", jobId, attempt, code: "manifest_untrusted", message });
  }

  #makePreloader(): Preloader | null {
    const { clock, log, files, recommend, availability, runtimes, random = Math.random } = this.#deps;
    if (recommend === null) return null;
    return new Preloader({
      runtimes: new Set(runtimes.keys()),
      clock,
      log,
      files,
      random,
      recommend: (signal) => recommend(this.#options.hostId, signal),
      want: (slugs) => this.#want(slugs),
      closedBecause: () => availability.closedBecause,
      onChange: () => this.#reportSoon(),
    });
  }

  /** Asks for Cargos, which come by `preload` frames; false when there is no session to ask in. */
  #want(slugs: readonly string[]): boolean {
    this.#send?.({ type: "wanted", slugs: [...slugs] });
    return this.#send !== null;
  }

  #tellAvailability(): void {
    const { isOpen } = this.#deps.availability;
    if (this.#send === null || isOpen === this.#saidOpen) return;
    this.#saidOpen = isOpen;
    this.#send({ type: isOpen ? "accepting" : "draining" });
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
    this.#saidOpen = this.#deps.availability.isOpen;
    return {
      type: "hello",
      hostId,
      agentVersion: version,
      hardware: this.#deps.hardware,
      runtimes: this.#runtimeReports(),
      slots,
      draining: !this.#saidOpen,
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

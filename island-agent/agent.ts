import { isDeepStrictEqual } from "node:util";
import { abortable } from "../shared/async/abortable.ts";
import type { Timer, Clock } from "../shared/clock.ts";
import type { Assign, Welcome } from "../shared/protocol/from-coordinator.ts";
import type { Benchmark, FromIsland } from "../shared/protocol/from-island.ts";
import { CargoPool } from "./execution/cargo-pool.ts";
import { Executor, type ExecutorDeps } from "./execution/executor.ts";
import { IslandReports, type AgentStatus, type LinkState, type UsageReport } from "./execution/island-reports.ts";
import { allSlotsFor, slotsFor } from "./config/resolve-agent-config.ts";
import { memoryCapsOf } from "./hardware/memory-caps.ts";
import { openBackgroundDownloads, type BackgroundDownloads } from "./preload/background-downloads.ts";
import { openCargoAdmission, type CargoAdmission, type AdmissionOptions } from "./session/cargo-admission.ts";
import { runSession, SessionRenewal, type LinkHandlers, type SessionFrame } from "./session/coordinator-link.ts";
import { Outbox } from "./session/outbox.ts";
import { openReconnectPolicy, type ReconnectPolicy } from "./session/reconnect-policy.ts";
import type { RuntimeType } from "../shared/cargo.ts";
import type { Hardware } from "../shared/hardware.ts";
import type { Logger } from "../shared/logger.ts";
import type { CargoFiles } from "./artifacts/cargo-files.ts";
import type { Availability } from "./availability/availability.ts";
import type { Recommendation } from "./preload/recommendations.ts";
import type { Engines } from "./runtimes/engine/engines.ts";
import type { CargoRuntime } from "./runtimes/runtime.ts";
import type { CoordinatorAddresses } from "./session/coordinator-addresses.ts";

/** Delay that lets several changes between heartbeats share one report. */
const REPORT_DELAY_MS = 500;
const MS_PER_S = 1_000;
/** Maximum wait of `stop` until the coordinator has acknowledged the returned jobs. */
const MAX_STOP_MS = 2_000;

/** Resources that the owner can change while the agent runs. The open hours can change too. */
interface Offer {
  /** Jobs that run at the same time, at least 1; null: chosen by `allSlotsFor`. */
  readonly slots: number | null;
  /** Hardware after the owner's caps. */
  readonly hardware: Hardware;
}

export interface AgentParts extends AdmissionOptions, Pick<ExecutorDeps, "fetchFiles" | "onEnded"> {
  readonly coordinators: CoordinatorAddresses;
  readonly token: string;
  readonly hostId: string;
  readonly version: string;
  readonly benchmark?: Benchmark | undefined;
  /** Maximum time between the end of the last job and the acknowledgement of all results, including reconnects. */
  readonly drainTimeoutMs: number;
  readonly clock: Clock;
  /** Initial offer. {@link IslandAgent.change} replaces it. */
  readonly offer: Offer;
  /** Usable runtimes with their versions. Call `announce` after adding one. */
  readonly runtimes: ReadonlyMap<RuntimeType, { readonly runtime: CargoRuntime; readonly version: string }>;
  readonly files: Pick<
    CargoFiles,
    | "acquire"
    | "pull"
    | "preload"
    | "freeSpace"
    | "bytesOnDisk"
    | "cachedModels"
    | "downloads"
    | "refusalOf"
    | "noSpaceFor"
  >;
  /** Engines of the host. Call {@link IslandAgent.noteEngines} when they change. */
  readonly engines: Pick<Engines, "load" | "serves" | "reports" | "slots" | "spawns" | "status">;
  /** Decides whether the Island accepts new jobs. The agent disposes of this object when it stops. */
  readonly availability: Availability;
  /** Asks the coordinator for preload recommendations; null if the owner has disabled preloads. */
  readonly recommend: ((hostId: string, signal: AbortSignal) => Promise<readonly Recommendation[]>) | null;
  readonly usage: () => UsageReport;
  /** Returns the bytes of RAM that loading a Cargo can use now; null if unknown. */
  readonly freeRamBytes: () => number | null;
  readonly log: Logger;
  /** Called on the first `welcome`. */
  readonly onConnected: () => void;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive), which spreads the attempts to reconnect. */
  readonly random?: () => number;
}

/** One Island: keeps a session with its coordinator and runs its assigned jobs. */
export class IslandAgent {
  /** Preloads, and downloads that the owner requested. */
  readonly downloads: BackgroundDownloads;
  readonly pool: CargoPool;
  readonly #parts: AgentParts;
  readonly #outbox = new Outbox();
  readonly #executor: Executor;
  readonly #reports: IslandReports;
  readonly #admission: CargoAdmission;
  readonly #reconnects: ReconnectPolicy;
  #offer: Offer;
  /** Slots that the coordinator last received. */
  #slots: number;
  readonly #leave = new AbortController();
  /** Ends the current session, so that a new one sends another `hello`. */
  #renew = new AbortController();
  /** Ends the current wait before the next attempt to connect. */
  #connectNow = new AbortController();
  #send: ((frame: FromIsland) => void) | null = null;
  #link: LinkState = "connecting";
  #sessions = 0;
  #lastProblem: string | null = null;
  /** True if the coordinator last received that the Island accepts jobs. */
  #reportedOpen = true;
  #pendingReport: Timer | null = null;
  /** Timer that returns running jobs to the coordinator when they take too long. */
  #drainLimit: Timer | null = null;

  constructor(parts: AgentParts) {
    this.#parts = parts;
    const {
      availability,
      clock,
      coordinators,
      files,
      hostId,
      log,
      offer,
      recommend,
      runtimes,
      random = Math.random,
    } = parts;
    const slots = allSlotsFor(offer, runtimes.size > 0, parts.engines.slots());
    const caps = memoryCapsOf(offer.hardware);
    this.#offer = offer;
    this.#slots = slots;
    const onChange = (): void => this.reportSoon();
    this.#reconnects = openReconnectPolicy(coordinators, random);
    this.#admission = openCargoAdmission(parts, log);
    this.pool = new CargoPool({
      runtimes: { get: (type) => runtimes.get(type)?.runtime },
      files,
      engines: parts.engines,
      clock,
      log,
      onChange,
      caps,
      freeRamBytes: parts.freeRamBytes,
    });
    this.#executor = new Executor({ ...parts, onChange, outbox: this.#outbox, pool: this.pool, slots });
    this.#reports = new IslandReports({
      ...parts,
      pool: this.pool,
      executor: this.#executor,
      outbox: this.#outbox,
      slots: () => this.#slots,
      runtimeSlots: () => slotsFor(this.#offer),
      hardware: () => this.#offer.hardware,
    });
    this.downloads = openBackgroundDownloads(
      {
        want: (slugs) => this.#want(slugs),
        closedBecause: () => availability.closedBecause,
        random,
        clock,
        log,
        files,
        runtimes,
        engines: parts.engines,
        onChange,
      },
      recommend === null ? null : (signal) => recommend(hostId, signal),
    );
    availability.onChange = () => {
      this.#reportAvailability();
      this.downloads.onAvailability();
    };
  }

  status(): AgentStatus {
    const { availability } = this.#parts;
    return {
      link: this.#link,
      coordinatorUrl: this.#parts.coordinators.current,
      closedBecause: availability.closedBecause,
      isPaused: availability.isPaused,
      hours: availability.hours,
      ...this.#reports.status(),
      preload: this.downloads.preloads(),
      reconnects: Math.max(0, this.#sessions - 1),
      lastProblem: this.#lastProblem,
    };
  }

  /**
   * Runs until `stop` or `drain` is done, or the coordinator permanently refuses the Island. Resolves with the reason.
   */
  async run(): Promise<string> {
    const { clock, coordinators, log, token } = this.#parts;
    while (!this.#leave.signal.aborted) {
      this.#link = "connecting";
      this.#renew = new AbortController();
      const ends = AbortSignal.any([this.#leave.signal, this.#renew.signal]);
      const { current } = coordinators;
      const before = this.#sessions;
      const end = await runSession(current, token, clock, this.#handlers(), ends);
      const waitMs = this.#reconnects.waitMsAfter(end, !this.#outbox.isEmpty);
      if (waitMs === null) return this.#finish(end.reason);
      if (end.kind !== "renewal") this.#lastProblem = end.reason;
      const what = this.#sessions > before ? "Session ended" : "Not connected";
      const next = waitMs === 0 ? "reconnecting now" : `reconnecting in ${Math.ceil(waitMs / MS_PER_S)} s`;
      log.info({ reason: end.reason, coordinator: current, next: coordinators.current }, `${what}; ${next}`);
      if (waitMs === 0) continue;
      this.#link = "waiting";
      this.#connectNow = new AbortController();
      await clock.sleep(waitMs, AbortSignal.any([this.#leave.signal, this.#connectNow.signal])).catch(() => undefined);
    }
    return this.#finish("the agent stops");
  }

  /** Opens a new session, whose `hello` has the current runtimes and offer. Running jobs continue in it. */
  announce(): void {
    this.#changeSlots();
    this.#renew.abort(new SessionRenewal("the offer of this Island changed"));
  }

  /** Changes the offer. Running jobs continue, even if there are more than slots. */
  change(offer: Offer): void {
    if (isDeepStrictEqual(offer, this.#offer)) return;
    this.#offer = offer;
    this.#changeSlots();
    this.pool.setCaps(memoryCapsOf(offer.hardware));
    this.announce();
  }

  /** Reports changed engines. A changed number of slots needs a new session. */
  noteEngines(): void {
    if (this.#changeSlots()) this.announce();
    else this.reportSoon();
  }

  /** Returns whether the number of slots has changed. */
  #changeSlots(): boolean {
    const { engines, runtimes } = this.#parts;
    const slots = allSlotsFor(this.#offer, runtimes.size > 0, engines.slots());
    if (slots === this.#slots) return false;
    this.#slots = slots;
    this.#executor.setSlots(slots);
    return true;
  }

  /** Stops accepting new jobs until `resume`. Running jobs continue. */
  pause(): void {
    this.#parts.availability.pause();
  }

  resume(): void {
    this.#parts.availability.resume();
  }

  /**
   * Stops accepting new jobs, finishes the running ones, and leaves as soon as the coordinator has all results. Without
   * a session it first reconnects, for at most `drainTimeoutMs`.
   * @param limitMs Time after which running jobs are returned to the coordinator; null lets them run up to their own
   * limits. A call during a drain without a limit can still set one.
   */
  async drain(limitMs: number | null): Promise<void> {
    const { availability, clock } = this.#parts;
    if (this.#leave.signal.aborted) return;
    if (limitMs !== null) this.#drainLimit ??= clock.schedule(limitMs, () => this.#executor.giveUp());
    if (availability.isDraining) return;
    availability.drain();
    await this.#executor.idle();
    this.#drainLimit?.cancel();
    if (this.#send === null) {
      this.#reconnects.resetBackoff();
      this.#connectNow.abort();
    }
    await this.#deliverResults(this.#parts.drainTimeoutMs);
    this.#leave.abort(new Error("the agent stops"));
  }

  /**
   * Returns the running jobs to the coordinator, and leaves when it has acknowledged them. Leaves immediately when no
   * job runs or there is no session.
   */
  async stop(): Promise<void> {
    this.#parts.availability.drain();
    if (!this.#executor.isIdle) {
      this.#executor.giveUp();
      await this.#executor.idle();
      if (this.#send !== null) await this.#deliverResults(MAX_STOP_MS);
    }
    this.#leave.abort(new Error("the agent stops"));
  }

  /** Waits until all frames are acknowledged, the agent leaves, or the time is up. */
  async #deliverResults(limitMs: number): Promise<void> {
    const limit = new AbortController();
    const timer = this.#parts.clock.schedule(limitMs, () => limit.abort());
    await abortable(this.#outbox.emptied(), AbortSignal.any([limit.signal, this.#leave.signal])).catch(() => undefined);
    timer.cancel();
  }

  async #finish(reason: string): Promise<string> {
    this.#link = "stopped";
    this.#leave.abort(new Error("the agent stops"));
    this.#executor.giveUp();
    await this.#executor.idle();
    this.#drainLimit?.cancel();
    await this.pool.close();
    await this.downloads.close();
    this.#parts.availability[Symbol.dispose]();
    this.#pendingReport?.cancel();
    return reason;
  }

  #handlers(): LinkHandlers {
    return {
      hello: () => {
        this.#reportedOpen = this.#parts.availability.isOpen;
        return this.#reports.hello(!this.#reportedOpen);
      },
      state: () => this.#reports.state(),
      distrust: (publicKey) => this.#admission.changeOf(publicKey),
      onWelcome: (welcome, send) => this.#onWelcome(welcome, send),
      onDrained: () => this.#outbox.drained(),
      onSettled: () => this.#reconnects.recordStableSession(),
      onFrame: (frame) => this.#onFrame(frame),
      onLost: () => {
        this.#send = null;
        this.#outbox.disconnect();
      },
    };
  }

  #onWelcome(welcome: Welcome, send: (frame: FromIsland) => boolean): void {
    this.#sessions += 1;
    this.#reconnects.recordWelcome();
    this.#link = "connected";
    this.#send = send;
    this.#reports.recordQuarantine(welcome.quarantine);
    this.#executor.applyDecisions(welcome.held);
    this.#outbox.connect(send, welcome.held, welcome.maxFrameBytes);
    this.#reportAvailability();
    if (this.#sessions === 1) this.#parts.onConnected();
    this.downloads.start(this.#leave.signal);
    this.#parts.log.info({ session: welcome.sessionId, held: welcome.held.length }, "Connected");
  }

  #onFrame(frame: SessionFrame): void {
    switch (frame.type) {
      case "assign":
        return this.#assign(frame);
      case "cancel":
        return this.#executor.cancel(frame);
      case "ack":
        this.#reports.recordQuarantine(frame.quarantine);
        return this.#outbox.acknowledge(frame.jobId, frame.attempt, frame.seq);
      case "preload":
        if (this.#admission.refusalOf(frame) !== null) return undefined;
        return this.downloads.receive(frame.cargo, this.#leave.signal);
      default:
        return frame satisfies never;
    }
  }

  #assign(frame: Assign): void {
    const refusal = this.#admission.refusalOf(frame);
    if (refusal === null) return this.#executor.assign(frame, this.#parts.availability.closedBecause);
    return this.#outbox.refuse({ type: "refused", jobId: frame.jobId, attempt: frame.attempt, ...refusal });
  }

  /** Requests Cargos from the coordinator, which arrive in `preload` frames. Returns false without a session. */
  #want(slugs: readonly string[]): boolean {
    this.#send?.({ type: "wanted", slugs: [...slugs] });
    return this.#send !== null;
  }

  #reportAvailability(): void {
    const { isOpen } = this.#parts.availability;
    if (this.#send === null || isOpen === this.#reportedOpen) return;
    this.#reportedOpen = isOpen;
    this.#send({ type: isOpen ? "accepting" : "draining" });
  }

  /** Reports changed facts to the coordinator, together with others of the next half second. */
  reportSoon(): void {
    this.#pendingReport ??= this.#parts.clock.schedule(REPORT_DELAY_MS, () => {
      this.#pendingReport = null;
      this.#send?.({ type: "heartbeat", state: this.#reports.state() });
    });
  }
}

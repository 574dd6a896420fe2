import { isDeepStrictEqual } from "node:util";
import { abortable } from "../shared/async/abortable.ts";
import type { Timer, Clock } from "../shared/clock.ts";
import type { Assign, Welcome } from "../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../shared/protocol/from-island.ts";
import { CargoPool } from "./execution/cargo-pool.ts";
import { Executor, type ExecutorDeps } from "./execution/executor.ts";
import { IslandReports, type AgentStatus, type LinkState, type UsageReport } from "./execution/island-reports.ts";
import { memoryCapsOf } from "./hardware/memory-caps.ts";
import { openBackgroundDownloads, type BackgroundDownloads } from "./preload/background-downloads.ts";
import { openCargoAdmission, type CargoAdmission, type AdmissionOptions } from "./session/cargo-admission.ts";
import { runSession, SessionRenewal, type LinkHandlers, type Served } from "./session/coordinator-link.ts";
import { Outbox } from "./session/outbox.ts";
import { openReconnectPolicy, type ReconnectPolicy } from "./session/reconnect-policy.ts";
import type { RuntimeType } from "../shared/cargo.ts";
import type { Hardware } from "../shared/hardware.ts";
import type { Logger } from "../shared/logger.ts";
import type { CargoFiles } from "./artifacts/cargo-files.ts";
import type { Availability } from "./availability/availability.ts";
import type { Recommendation } from "./preload/recommendations.ts";
import type { CargoRuntime } from "./runtimes/runtime.ts";
import type { CoordinatorAddresses } from "./session/coordinator-addresses.ts";

/** Changes between heartbeats are collected for this long and reported together. */
const REPORT_DELAY_MS = 500;
const MS_PER_S = 1_000;
/** How long `stop` waits for the coordinator to take the jobs back. */
const MAX_STOP_MS = 2_000;

/** What the owner can change while the agent runs, besides its hours. */
interface Offer {
  /** Jobs that run at once, at least 1. */
  readonly slots: number;
  /** After the owner's caps. */
  readonly hardware: Hardware;
}

/** What an agent is made of. */
export interface AgentParts extends AdmissionOptions, Pick<ExecutorDeps, "fetchFiles" | "onEnded"> {
  readonly coordinators: CoordinatorAddresses;
  readonly token: string;
  readonly hostId: string;
  readonly version: string;
  /** Longest wait for the acknowledgement of the last results after the jobs have ended, with reconnects. */
  readonly drainTimeoutMs: number;
  readonly clock: Clock;
  /** Until {@link IslandAgent.change}. */
  readonly offer: Offer;
  /** Usable runtimes with their versions. The map may get more of them; call `announce` then. */
  readonly runtimes: ReadonlyMap<RuntimeType, { readonly runtime: CargoRuntime; readonly version: string }>;
  readonly files: Pick<
    CargoFiles,
    "acquire" | "pull" | "preload" | "freeSpace" | "bytesOnDisk" | "cached" | "downloads" | "refusalOf" | "noSpaceFor"
  >;
  /** Whether new jobs are taken. The agent owns it from here on. */
  readonly availability: Availability;
  /** Asks the coordinator what to preload; null: the owner has switched preloads off. */
  readonly recommend: ((hostId: string, signal: AbortSignal) => Promise<readonly Recommendation[]>) | null;
  /** Load of the machine now. */
  readonly usage: () => UsageReport;
  /** RAM that a load can have now; null when unknown. */
  readonly freeRamBytes: () => number | null;
  readonly log: Logger;
  /** Called at the first welcome. */
  readonly onConnected: () => void;
  /** 0 (included) to 1 (excluded); spreads the attempts to reconnect. */
  readonly random?: () => number;
}

/** One Island: keeps a session with its coordinator and runs the jobs that it is assigned. */
export class IslandAgent {
  /** Preloads, and the downloads that the owner asks for. */
  readonly downloads: BackgroundDownloads;
  /** The Cargos in memory. */
  readonly pool: CargoPool;
  readonly #parts: AgentParts;
  readonly #outbox = new Outbox();
  readonly #executor: Executor;
  readonly #reports: IslandReports;
  readonly #admission: CargoAdmission;
  readonly #reconnects: ReconnectPolicy;
  #offer: Offer;
  /** Ends the agent. */
  readonly #leave = new AbortController();
  /** Ends the present session, for one with another `hello`. */
  #renew = new AbortController();
  /** Ends the present wait before the next attempt to connect. */
  #connectNow = new AbortController();
  #send: ((frame: FromIsland) => void) | null = null;
  #link: LinkState = "connecting";
  #sessions = 0;
  #lastProblem: string | null = null;
  /** The availability that was last sent to the coordinator. */
  #reportedOpen = true;
  #pendingReport: Timer | null = null;
  /** Gives running jobs back when they take too long. */
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
    const { slots } = offer;
    const caps = memoryCapsOf(offer.hardware);
    this.#offer = offer;
    const onChange = (): void => this.#reportSoon();
    this.#reconnects = openReconnectPolicy(coordinators, random);
    this.#admission = openCargoAdmission(parts, log);
    this.pool = new CargoPool({
      runtimes: { get: (type) => runtimes.get(type)?.runtime },
      files,
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
      slots: () => this.#offer.slots,
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

  /** Runs until `stop` or `drain` is done, or the coordinator refuses the Island for good. Returns why it ended. */
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
      const next = waitMs === 0 ? "next attempt now" : `next attempt in ${Math.ceil(waitMs / MS_PER_S)} s`;
      log.info({ reason: end.reason, coordinator: current, next: coordinators.current }, `${what}; ${next}`);
      if (waitMs === 0) continue;
      this.#link = "waiting";
      this.#connectNow = new AbortController();
      await clock.sleep(waitMs, AbortSignal.any([this.#leave.signal, this.#connectNow.signal])).catch(() => undefined);
    }
    return this.#finish("the agent stops");
  }

  /** Opens another session, whose `hello` names the runtimes and the offer of now. Running jobs go on in it. */
  announce(): void {
    this.#renew.abort(new SessionRenewal("the offer of this Island changed"));
  }

  /** Offers something else from now on. Running jobs go on, also if they are more than there are slots. */
  change(offer: Offer): void {
    if (isDeepStrictEqual(offer, this.#offer)) return;
    this.#offer = offer;
    this.#executor.setSlots(offer.slots);
    this.pool.setCaps(memoryCapsOf(offer.hardware));
    this.announce();
  }

  /** Takes no new jobs until `resume`. Running jobs go on. */
  pause(): void {
    this.#parts.availability.pause();
  }

  resume(): void {
    this.#parts.availability.resume();
  }

  /**
   * Takes no new jobs, finishes the running ones, and leaves as soon as the coordinator has all results. Without a session it
   * reconnects first, for at most `drainTimeoutMs`.
   * @param limitMs when jobs that still run are given back; null: they may run up to their own limits. A limit also applies to
   * a drain that is under way; null then changes nothing.
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
      this.#reconnects.hurry();
      this.#connectNow.abort();
    }
    await this.#farewell(this.#parts.drainTimeoutMs);
    this.#leave.abort(new Error("the agent stops"));
  }

  /** Gives the running jobs back and leaves as soon as the coordinator knows; at once when nothing runs or there is no session. */
  async stop(): Promise<void> {
    this.#parts.availability.drain();
    if (!this.#executor.isIdle) {
      this.#executor.giveUp();
      await this.#executor.idle();
      if (this.#send !== null) await this.#farewell(MAX_STOP_MS);
    }
    this.#leave.abort(new Error("the agent stops"));
  }

  /** Waits until every frame is acknowledged, the agent leaves, or the time is up. */
  async #farewell(limitMs: number): Promise<void> {
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
      onSettled: () => this.#reconnects.settled(),
      onFrame: (frame) => this.#onFrame(frame),
      onLost: () => {
        this.#send = null;
        this.#outbox.disconnect();
      },
    };
  }

  #onWelcome(welcome: Welcome, send: (frame: FromIsland) => boolean): void {
    this.#sessions += 1;
    this.#reconnects.welcomed();
    this.#link = "connected";
    this.#send = send;
    this.#reports.noteQuarantine(welcome.quarantine);
    this.#executor.applyDecisions(welcome.held);
    this.#outbox.connect(send, welcome.held, welcome.maxFrameBytes);
    this.#reportAvailability();
    if (this.#sessions === 1) this.#parts.onConnected();
    this.downloads.start(this.#leave.signal);
    this.#parts.log.info({ session: welcome.sessionId, held: welcome.held.length }, "Connected");
  }

  #onFrame(frame: Served): void {
    switch (frame.type) {
      case "assign":
        return this.#assign(frame);
      case "cancel":
        return this.#executor.cancel(frame);
      case "ack":
        this.#reports.noteQuarantine(frame.quarantine);
        return this.#outbox.acknowledge(frame.jobId, frame.attempt, frame.seq);
      case "preload":
        if (this.#admission.refusalOf(frame) !== null) return undefined;
        return this.downloads.offer(frame.cargo, this.#leave.signal);
      default:
        return frame satisfies never;
    }
  }

  #assign(frame: Assign): void {
    const refusal = this.#admission.refusalOf(frame);
    if (refusal === null) return this.#executor.assign(frame, this.#parts.availability.closedBecause);
    return this.#outbox.refuse({ type: "refused", jobId: frame.jobId, attempt: frame.attempt, ...refusal });
  }

  /** Asks the coordinator for Cargos, which arrive in `preload` frames. Returns false when there is no session. */
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

  #reportSoon(): void {
    this.#pendingReport ??= this.#parts.clock.schedule(REPORT_DELAY_MS, () => {
      this.#pendingReport = null;
      this.#send?.({ type: "heartbeat", state: this.#reports.state() });
    });
  }
}

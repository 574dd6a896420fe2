import type { Clock, Timer } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { newId } from "../../../shared/ids.ts";
import {
  CLOSE,
  encodeFrame,
  ProtocolError,
  readFromIsland,
  SILENCE_IN_HEARTBEATS,
} from "../../../shared/protocol/codec.ts";
import { fromCoordinatorSchema, type FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import {
  fromIslandSchema,
  singleFramesOf,
  type FromIsland,
  type SingleFrame,
} from "../../../shared/protocol/from-island.ts";
import { FloodError, FrameLimits, MAX_STATE_BYTES } from "./frame-limits.ts";
import type { FrameSource } from "./frame-intake.ts";
import type { IslandIdentity } from "../../accounts/identity.ts";
import type { Env } from "../../env.ts";
import type { Rate } from "../../quotas/token-bucket.ts";
import type { AccountShare } from "../account-sessions.ts";
import { UnstoredFrames, type IntakeBudget } from "../intake-budget.ts";
import type { IslandLink, IslandView } from "../island.ts";
import type { IslandConnections } from "../island-connections.ts";
import type { SessionWatch } from "./session-watch.ts";
import type { SessionSocket, SocketEvents } from "../session-socket.ts";

/** Time limit for `hello` after the socket is open. */
const MAX_HELLO_WAIT_MS = 10_000;
/** Maximum bytes of an unfinished frame without a job: a report, with space for the held jobs in `hello`. */
const MAX_IDLE_UNFINISHED_BYTES = 4 * MAX_STATE_BYTES;
/** Memory counted for each read besides its data. Measured: 800 bytes; honest networks deliver more data per read. */
const READ_BYTES = 512;
/** Pause before the session checks again whether an unfinished frame may grow. */
const NO_CAPACITY_PAUSE_MS = 50;
/** Maximum bytes that an Island has not read yet. Above this number it is disconnected. */
const MAX_UNREAD_BYTES = 64 * MIB;
/** Maximum length of a close reason: 125 bytes minus the code. Source: RFC 6455 §5.5. */
const MAX_REASON_BYTES = 123;

export interface SharedBySessions extends Env<"heartbeatMs"> {
  readonly connections: IslandConnections;
  readonly intake: IntakeBudget;
  readonly watch: SessionWatch;
  readonly frames: FrameCounts;
  readonly controlRate: Rate;
  onFlood(owner: SessionOwner): void;
  onClosed(session: IslandSession): void;
}

/** The token that opened the session, and its account. */
export interface SessionOwner extends IslandIdentity {
  readonly share: AccountShare;
}

/** Numbers of frames of all Islands by type. Counting must be cheap: some frames are a single token. */
export interface FrameCounts {
  readonly received: Record<FromIsland["type"], number>;
  readonly sent: Record<FromCoordinator["type"], number>;
}

export function noFrames(): FrameCounts {
  return { received: zeroCounts(fromIslandSchema), sent: zeroCounts(fromCoordinatorSchema) };
}

function zeroCounts<T extends string>(schema: {
  readonly options: readonly { readonly shape: { readonly type: { readonly value: T } } }[];
}): Record<T, number> {
  return Object.fromEntries(schema.options.map(({ shape }) => [shape.type.value, 0])) as Record<T, number>;
}

/**
 * The WebSocket session of an Island: opening → waiting for hello → serving → closed. Many sessions are idle, so
 * pauses, unstored frames and timers are created on demand.
 */
export class IslandSession implements IslandLink, FrameSource, SocketEvents {
  readonly owner: SessionOwner;
  readonly #socket: SessionSocket;
  readonly #shared: SharedBySessions;
  readonly #sessionId: string;
  #island: IslandView | null = null;
  #isConnecting = false;
  /** True once the session has decided to close; later frames are ignored. */
  #isClosing = false;
  readonly #limits: FrameLimits;
  #unstored: UnstoredFrames | null = null;
  #unfinishedBytes = 0;
  #pauses: SocketPauses | null = null;
  #pingSentMs: number | null = null;
  /** Monotonic time of the last frame. */
  #lastFrameMs: number;
  /** Part in `SessionWatch`; null while the session does not serve. */
  #watchPart: number | null = null;
  /** Timer that disconnects an Island without a `hello`, a heartbeat, or a reply to the close. */
  #silence: Timer | null = null;

  constructor(socket: SessionSocket, owner: SessionOwner, shared: SharedBySessions) {
    this.#socket = socket;
    this.owner = owner;
    this.#shared = shared;
    this.#sessionId = newId("ses", shared.clock.now());
    this.#limits = new FrameLimits(shared.controlRate);
    this.#lastFrameMs = shared.clock.monotonicMs();
    socket.attach(this);
    this.#expectWithin(MAX_HELLO_WAIT_MS);
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.isOpen;
  }

  send(frame: FromCoordinator): void {
    if (!this.isOpen) return;
    if (this.#socket.bufferedBytes > MAX_UNREAD_BYTES) {
      this.#log("warn", {}, "Disconnecting an Island that does not read its frames");
      this.#isClosing = true;
      return this.#socket.terminate();
    }
    this.#shared.frames.sent[frame.type] += 1;
    // Assignments do not wait for responses to clients that the same tick writes.
    this.#socket.send(encodeFrame(frame), frame.type === "assign" ? "microtask" : "tick");
  }

  get closed(): Promise<void> {
    return this.#socket.closed;
  }

  dismiss(reason: string, retryAfterMs: number | null, address?: string): void {
    this.send({ type: "goodbye", reason, retryAfterMs, ...(address === undefined ? {} : { address }) });
    this.#close(CLOSE.goingAway, reason);
  }

  onRead(bytes: number): void {
    if (!this.isOpen) return;
    this.#setUnfinished(this.#unfinishedBytes + bytes + READ_BYTES);
    this.#guard(() => {
      const isIdle = this.#island?.isBusy !== true;
      if (isIdle && this.#unfinishedBytes > MAX_IDLE_UNFINISHED_BYTES)
        throw new FloodError("frame: too large for an Island without a job");
    });
    this.#waitForCapacity();
  }

  onQueued(): void {
    this.#pause().begin("tick");
  }

  onQueueEmpty(): void {
    this.#pauses?.end("tick");
  }

  take(data: Buffer): number {
    let count = 1;
    if (this.#isClosing) return count;
    this.#guard(() => {
      const frame = readFromIsland(data);
      this.#shared.frames.received[frame.type] += 1;
      this.#lastFrameMs = this.#shared.clock.monotonicMs();
      const singles = singleFramesOf(frame);
      count = singles.length;
      const bytes = Math.ceil(data.length / count);
      for (const single of singles) if (!this.#isClosing) this.#takeSingle(single, bytes);
    });
    return count;
  }

  #takeSingle(frame: SingleFrame, bytes: number): void {
    const nowMs = this.#lastFrameMs;
    this.#pauseFor(this.#limits.count(frame, nowMs));
    const isStray = "jobId" in frame && this.#island?.has(frame) !== true;
    this.#limits.admit(frame, bytes, isStray, nowMs);
    if (this.#island === null) return this.#connect(frame);
    const durable = this.#shared.connections.receive(this.#island, frame);
    if (durable === undefined) return;
    this.#unstored ??= this.#countUnstored();
    this.#unstored.add(bytes, durable);
  }

  /** Stops reading the socket, so that an Island above its rates must wait. */
  #pauseFor(ms: number): void {
    if (ms > 0) this.#pause().beginFor("rate", ms);
  }

  /** Detects a silent Island and measures the round trip, once per heartbeat interval. */
  check(nowMs: number): void {
    if (!this.isOpen) return;
    const leftMs = this.#lastFrameMs + this.#silenceMs - nowMs;
    if (leftMs < this.#shared.config.heartbeatMs) this.#expectWithin(Math.max(0, leftMs));
    this.#ping(nowMs);
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    this.#setUnfinished(0);
    this.#pauseFor(this.#limits.countBytes(data.length, this.#shared.clock.monotonicMs()));
    if (isBinary) this.owner.share.intake.push(this, data);
    else this.#refuse(new ProtocolError("frame is text, not MessagePack"));
  }

  /** Ends the session if `receive` finds an invalid frame or a flood. */
  #guard(receive: () => void): void {
    try {
      receive();
    } catch (error) {
      if (error instanceof ProtocolError) return this.#refuse(error);
      // An internal error caused by a frame must not end all sessions.
      this.#log("error", { err: error }, "Could not handle a frame from an Island");
      this.#close(CLOSE.internalError, "the coordinator could not handle a frame");
    }
  }

  #refuse(error: ProtocolError): void {
    if (this.#isClosing) return;
    this.#log("warn", { reason: error.message }, "Invalid frame from an Island");
    if (error instanceof FloodError) this.#shared.onFlood(this.owner);
    this.#close(CLOSE.policyViolation, error.message);
  }

  #connect(frame: SingleFrame): void {
    if (frame.type !== "hello") throw new ProtocolError(`${frame.type}: sent before hello`);
    if (this.#isConnecting) throw new ProtocolError("hello: sent twice");
    this.#isConnecting = true;
    this.#expectWithin(this.#silenceMs);
    this.#shared.connections.connect(frame, this.owner, this.#sessionId, this).then(
      (island) => {
        if (island !== null) this.#serve(island);
      },
      (error: unknown) => {
        if (error instanceof ServiceError) return this.#close(CLOSE.policyViolation, error.message);
        this.#log("error", { err: error }, "Could not accept an Island");
        return this.#close(CLOSE.internalError, "internal error");
      },
    );
  }

  #serve(island: IslandView): void {
    this.#island = island;
    this.#log("info", {}, "Island connected");
    if (!this.isOpen) return this.#shared.connections.disconnect(island, this);
    this.#silence?.cancel();
    this.#silence = null;
    this.#watchPart = this.#shared.watch.add(this);
    this.#ping(this.#shared.clock.monotonicMs());
  }

  #setUnfinished(bytes: number): void {
    this.owner.share.changeUnfinished(this, bytes, this.#unfinishedBytes);
    this.#unfinishedBytes = bytes;
  }

  #waitForCapacity(): void {
    if (this.owner.share.mayReadOn(this)) return;
    this.#pause().beginFor("capacity", NO_CAPACITY_PAUSE_MS, () => this.#waitForCapacity());
  }

  #pause(): SocketPauses {
    return (this.#pauses ??= new SocketPauses(this.#socket, this.#shared.clock));
  }

  #countUnstored(): UnstoredFrames {
    const onWait = (): void => this.#pause().begin("storage");
    return new UnstoredFrames(this.#shared.intake, onWait, () => {
      this.#pauses?.end("storage");
      // A paused Island may have sent frames that were not read.
      this.#lastFrameMs = this.#shared.clock.monotonicMs();
    });
  }

  #ping(nowMs: number): void {
    this.#pingSentMs = nowMs;
    this.#socket.ping();
  }

  onPing(): void {
    this.#guard(() => this.#limits.countControl("ping", this.#shared.clock.monotonicMs()));
  }

  onPong(): void {
    const nowMs = this.#shared.clock.monotonicMs();
    this.#guard(() => this.#limits.countControl("pong", nowMs));
    if (this.#pingSentMs === null || this.#island === null) return;
    this.#shared.connections.noteRoundTrip(this.#island, nowMs - this.#pingSentMs);
    this.#pingSentMs = null;
  }

  get #silenceMs(): number {
    return this.#shared.config.heartbeatMs * SILENCE_IN_HEARTBEATS;
  }

  /** Disconnects the Island after `ms`, unless it serves and a frame has arrived by then. */
  #expectWithin(ms: number): void {
    this.#silence?.cancel();
    this.#silence = this.#shared.clock.schedule(ms, () => {
      this.#silence = null;
      const isServing = this.#island !== null && this.isOpen;
      const leftMs = this.#lastFrameMs + this.#silenceMs - this.#shared.clock.monotonicMs();
      // A paused Island may send frames that are not read.
      if (isServing && (leftMs > 0 || this.#unstored?.isWaiting === true)) return;
      this.#log("info", {}, "Disconnecting a silent Island");
      this.#socket.terminate();
    });
  }

  #close(code: number, reason: string): void {
    this.#isClosing = true;
    this.#unstored?.close();
    this.#pauses?.close();
    // Disconnects an Island that does not reply to the close.
    this.#expectWithin(this.#silenceMs);
    this.#socket.close(code, closeReason(reason));
  }

  onError(error: Error): void {
    this.#log("info", { error: error.message }, "Island socket failed");
  }

  onClose(code: number): void {
    this.#isClosing = true;
    this.#unstored?.close();
    this.#pauses?.close();
    this.#setUnfinished(0);
    this.#silence?.cancel();
    if (this.#watchPart !== null) this.#shared.watch.remove(this, this.#watchPart);
    this.#shared.onClosed(this);
    if (this.#island === null) return;
    this.#log("info", { code }, "Island disconnected");
    this.#shared.connections.disconnect(this.#island, this);
  }

  #log(level: "info" | "warn" | "error", facts: object, message: string): void {
    const island = this.#island === null ? {} : { island_id: this.#island.hostId };
    const ids = { session: this.#sessionId, account_id: this.owner.accountId, ...island };
    this.#shared.log[level]({ ...ids, ...facts }, message);
  }
}

/**
 * Why a socket is not read. `storage`: commits are behind. `tick`: frames wait for the next tick. `rate`: too many
 * frames, items of output or bytes. `capacity`: too many bytes of unfinished frames.
 */
type PauseReason = "storage" | "tick" | "rate" | "capacity";

/** Pauses a socket for one or more reasons. The socket is read again when no reason is left, or to complete a close. */
class SocketPauses {
  readonly #socket: Pick<SessionSocket, "pause" | "resume">;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #reasons = new Set<PauseReason>();
  #isOver = false;

  constructor(socket: Pick<SessionSocket, "pause" | "resume">, clock: Pick<Clock, "schedule">) {
    this.#socket = socket;
    this.#clock = clock;
  }

  begin(reason: PauseReason): void {
    if (this.#isOver) return;
    this.#reasons.add(reason);
    this.#socket.pause();
  }

  end(reason: PauseReason): void {
    if (this.#reasons.delete(reason) && this.#reasons.size === 0) this.#socket.resume();
  }

  /** Pauses for `ms`, unless the reason is in force already. `then` is not called after `close`. */
  beginFor(reason: PauseReason, ms: number, then?: () => void): void {
    if (this.#isOver || this.#reasons.has(reason)) return;
    this.begin(reason);
    this.#clock.schedule(ms, () => {
      this.end(reason);
      if (!this.#isOver) then?.();
    });
  }

  /** Ends all pauses, so that a closing socket is read to the end. */
  close(): void {
    this.#isOver = true;
    this.#reasons.clear();
    this.#socket.resume();
  }
}

/** Truncates a text to the size of a close reason, in whole characters. */
function closeReason(text: string): string {
  return Buffer.from(text)
    .subarray(0, MAX_REASON_BYTES)
    .toString()
    .replace(/\uFFFD$/, "");
}

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
import { fromIslandSchema, type FromIsland } from "../../../shared/protocol/from-island.ts";
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

/** Longest wait for `hello` after the socket is open. */
const MAX_HELLO_WAIT_MS = 10_000;
/** Bytes of an unfinished frame of an Island without jobs: its reports, with room for the jobs that `hello` names. */
const MAX_IDLE_UNFINISHED_BYTES = 4 * MAX_STATE_BYTES;
/** What each read of the socket takes beside its bytes, of which it may have one: 800 bytes, measured; an honest network brings more at once. */
const READ_BYTES = 512;
/** When there is no room for an unfinished frame, the session looks again after this. */
const NO_CAPACITY_PAUSE_MS = 50;
/** Bytes that wait for the Island to read them. One that never reads is cut off here. */
const MAX_UNREAD_BYTES = 64 * MIB;
/** Longest reason of a close frame: 125 bytes less the code. Source: RFC 6455 §5.5. */
const MAX_REASON_BYTES = 123;

export interface SharedBySessions extends Env<"heartbeatMs"> {
  readonly connections: IslandConnections;
  readonly intake: IntakeBudget;
  readonly watch: SessionWatch;
  readonly frames: FrameCounts;
  /** From `controlRate()`. */
  readonly controlRate: Rate;
  /** Called once in each interval. Ends the sessions of a token that was revoked. */
  recheck(owner: SessionOwner): void;
  /** The session ends because it was a flood. */
  onFlood(owner: SessionOwner): void;
  onClosed(session: IslandSession): void;
}

/** The account whose token opened the session. */
export interface SessionOwner extends IslandIdentity {
  readonly share: AccountShare;
}

/** Frames of all Islands by type. One more is one addition: some frames are a single token. */
export interface FrameCounts {
  readonly received: Record<FromIsland["type"], number>;
  readonly sent: Record<FromCoordinator["type"], number>;
}

export function noFrames(): FrameCounts {
  return { received: noneOf(fromIslandSchema), sent: noneOf(fromCoordinatorSchema) };
}

function noneOf<T extends string>(schema: {
  readonly options: readonly { readonly shape: { readonly type: { readonly value: T } } }[];
}): Record<T, number> {
  return Object.fromEntries(schema.options.map(({ shape }) => [shape.type.value, 0])) as Record<T, number>;
}

/**
 * One Island's WebSocket: opening → waiting for hello → serving → closed. Decodes, watches for silence, and sends. Idle ones are many: what
 * only few sessions need (pauses, frames that wait for storage, timers) is made when it is needed.
 */
export class IslandSession implements IslandLink, FrameSource, SocketEvents {
  readonly owner: SessionOwner;
  readonly #socket: SessionSocket;
  readonly #shared: SharedBySessions;
  readonly #sessionId: string;
  #island: IslandView | null = null;
  #greeting = false;
  /** Set when the session decides to close: no frame is read any more. */
  #isClosing = false;
  readonly #limits: FrameLimits;
  #unstored: UnstoredFrames | null = null;
  #unfinishedBytes = 0;
  #pauses: SocketPauses | null = null;
  #pingSentMs: number | null = null;
  /** When the Island was heard last. Both by the clock that never jumps. */
  #heardMs: number;
  /** For `SessionWatch`; null while the session does not serve. */
  #watchPart: number | null = null;
  /** Ends the wait for `hello`, for an Island that missed a heartbeat, or for the answer to our close. */
  #silence: Timer | null = null;

  constructor(socket: SessionSocket, owner: SessionOwner, shared: SharedBySessions) {
    this.#socket = socket;
    this.owner = owner;
    this.#shared = shared;
    this.#sessionId = newId("ses", shared.clock.now());
    this.#limits = new FrameLimits(shared.controlRate);
    this.#heardMs = shared.clock.monotonicMs();
    socket.attach(this);
    this.#expectWithin(MAX_HELLO_WAIT_MS);
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.isOpen;
  }

  send(frame: FromCoordinator): void {
    if (!this.isOpen) return;
    if (this.#socket.bufferedBytes > MAX_UNREAD_BYTES) {
      this.#log("warn", {}, "An Island does not read what it is sent");
      this.#isClosing = true;
      return this.#socket.terminate();
    }
    this.#shared.frames.sent[frame.type] += 1;
    // An assignment does not wait for the answers to clients, which the same turn writes.
    this.#socket.send(encodeFrame(frame), frame.type === "assign" ? "microtask" : "tick");
  }

  /** Resolves when the socket is closed. */
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
        throw new FloodError("frame: too large without a job");
    });
    this.#waitForCapacity();
  }

  onQueued(): void {
    this.#pause().begin("tick");
  }

  onQueueEmpty(): void {
    this.#pauses?.end("tick");
  }

  take(data: Buffer): void {
    if (this.#isClosing) return;
    this.#guard(() => {
      const frame = readFromIsland(data);
      this.#shared.frames.received[frame.type] += 1;
      const nowMs = this.#shared.clock.monotonicMs();
      this.#heardMs = nowMs;
      const isStray = "jobId" in frame && this.#island?.has(frame) !== true;
      this.#limits.admit(frame, data.length, isStray, nowMs);
      if (this.#island === null) return this.#greet(frame);
      const durable = this.#shared.connections.receive(this.#island, frame);
      if (durable === undefined) return;
      this.#unstored ??= this.#countUnstored();
      this.#unstored.add(data.length, durable);
    });
  }

  /** Once in each heartbeat interval: looks whether the Island is silent and its token revoked, and measures the round trip. */
  look(nowMs: number): void {
    if (!this.isOpen) return;
    const leftMs = this.#heardMs + this.#silenceMs - nowMs;
    if (leftMs < this.#shared.config.heartbeatMs) this.#expectWithin(Math.max(0, leftMs));
    this.#shared.recheck(this.owner);
    this.#ping(nowMs);
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    this.#setUnfinished(0);
    const waitMs = this.#limits.count(data.length, this.#shared.clock.monotonicMs());
    if (waitMs > 0) this.#pause().beginFor("rate", waitMs);
    if (isBinary) this.owner.share.intake.push(this, data);
    else this.#refuse(new ProtocolError("frame is text, not MessagePack"));
  }

  /** Ends the session if `receive` finds a bad frame or a flood. */
  #guard(receive: () => void): void {
    try {
      receive();
    } catch (error) {
      if (error instanceof ProtocolError) return this.#refuse(error);
      // A fault of ours, which a frame has found: it must not end the sessions of all.
      this.#log("error", { err: error }, "A frame of an Island failed");
      this.#close(CLOSE.internalError, "the coordinator could not handle a frame");
    }
  }

  #refuse(error: ProtocolError): void {
    if (this.#isClosing) return;
    this.#log("warn", { reason: error.message }, "Bad frame from an Island");
    if (error instanceof FloodError) this.#shared.onFlood(this.owner);
    this.#close(CLOSE.policyViolation, error.message);
  }

  #greet(frame: FromIsland): void {
    if (frame.type !== "hello") throw new ProtocolError(`${frame.type}: before hello`);
    if (this.#greeting) throw new ProtocolError("hello: said twice");
    this.#greeting = true;
    this.#expectWithin(this.#silenceMs);
    this.#shared.connections.connect(frame, this.owner, this.#sessionId, this).then(
      (island) => {
        if (island !== null) this.#serve(island);
      },
      (error: unknown) => {
        if (error instanceof ServiceError) return this.#close(CLOSE.policyViolation, error.message);
        this.#log("error", { err: error }, "Letting an Island in failed");
        return this.#close(1011, "internal error");
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
      // Paused, it may have spoken and was not heard.
      this.#heardMs = this.#shared.clock.monotonicMs();
    });
  }

  /** The round trip is measured once per heartbeat. */
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

  /** Cuts the Island off after `ms`, unless it serves and was heard by then. */
  #expectWithin(ms: number): void {
    this.#silence?.cancel();
    this.#silence = this.#shared.clock.schedule(ms, () => {
      this.#silence = null;
      const isServing = this.#island !== null && this.isOpen;
      const leftMs = this.#heardMs + this.#silenceMs - this.#shared.clock.monotonicMs();
      // Paused, it may speak and is not heard.
      if (isServing && (leftMs > 0 || this.#unstored?.isWaiting === true)) return;
      this.#log("info", {}, "Island is silent");
      this.#socket.terminate();
    });
  }

  #close(code: number, reason: string): void {
    this.#isClosing = true;
    this.#unstored?.close();
    this.#pauses?.close();
    // Cuts off an Island that does not answer the close.
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

/** `storage`: commits are behind. `turn`: frames wait for their turn. `rate`: too much a second. `room`: too many unfinished frames. */
type PauseReason = "storage" | "tick" | "rate" | "capacity";

/** Why a socket is not read now. It is read again when no reason is left, or to see the close through. */
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

  /** Does nothing while the reason is in force. `then` is not called once all pauses are over. */
  beginFor(reason: PauseReason, ms: number, then?: () => void): void {
    if (this.#isOver || this.#reasons.has(reason)) return;
    this.begin(reason);
    this.#clock.schedule(ms, () => {
      this.end(reason);
      if (!this.#isOver) then?.();
    });
  }

  /** The session closes: the socket is read to its end. */
  close(): void {
    this.#isOver = true;
    this.#reasons.clear();
    this.#socket.resume();
  }
}

/** As much of a text as a close frame has room for, in whole characters. */
function closeReason(text: string): string {
  return Buffer.from(text)
    .subarray(0, MAX_REASON_BYTES)
    .toString()
    .replace(/\uFFFD$/, "");
}

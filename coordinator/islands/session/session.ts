import type { Timer } from "../../../shared/clock.ts";
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
import type { FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { closeReason } from "./close-reason.ts";
import { FloodError, FrameLimits, MAX_STATE_BYTES } from "./frame-limits.ts";
import type { FrameSource } from "./frame-intake.ts";
import type { IslandLink, IslandView } from "../island.ts";
import type { SessionDeps, SessionOwner } from "./session-deps.ts";
import type { SessionSocket, SocketEvents } from "../session-socket.ts";
import { SocketPauses } from "./socket-pauses.ts";
import { UnstoredFrames } from "./unstored-frames.ts";

/** Longest wait for `hello` after the socket is open. */
const MAX_HELLO_WAIT_MS = 10_000;
/** Bytes of an unfinished frame of an Island without jobs: its reports, with room for the jobs that `hello` names. */
const MAX_IDLE_UNFINISHED_BYTES = 4 * MAX_STATE_BYTES;
/** What each read of the socket takes beside its bytes, of which it may have one: 800 bytes, measured; an honest network brings more at once. */
const READ_BYTES = 512;
/** When there is no room for an unfinished frame, the session looks again after this. */
const NO_ROOM_PAUSE_MS = 50;
/** Bytes that wait for the Island to read them. One that never reads is cut off here. */
const MAX_UNREAD_BYTES = 64 * MIB;

/**
 * One Island's WebSocket: opening → waiting for hello → serving → closed. Decodes, watches for silence, and sends. Idle ones are many: what
 * only few sessions need (pauses, frames that wait for storage, timers) is made when it is needed.
 */
export class IslandSession implements IslandLink, FrameSource, SocketEvents {
  readonly owner: SessionOwner;
  readonly #socket: SessionSocket;
  readonly #deps: SessionDeps;
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

  constructor(socket: SessionSocket, owner: SessionOwner, deps: SessionDeps) {
    this.#socket = socket;
    this.owner = owner;
    this.#deps = deps;
    this.#sessionId = newId("ses", deps.clock.now());
    this.#limits = new FrameLimits(deps.controlRate);
    this.#heardMs = deps.clock.monotonicMs();
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
    this.#deps.frames.sent[frame.type] += 1;
    // An assignment does not wait for the answers to clients, which the same turn writes.
    this.#socket.send(encodeFrame(frame), frame.type === "assign" ? "microtask" : "turn");
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
    this.#waitForRoom();
  }

  onQueued(): void {
    this.#pause().begin("turn");
  }

  onQueueEmpty(): void {
    this.#pauses?.end("turn");
  }

  take(data: Buffer): void {
    if (this.#isClosing) return;
    this.#guard(() => {
      const frame = readFromIsland(data);
      this.#deps.frames.received[frame.type] += 1;
      const nowMs = this.#deps.clock.monotonicMs();
      this.#heardMs = nowMs;
      const isStray = "jobId" in frame && this.#island?.has(frame) !== true;
      this.#limits.admit(frame, data.length, isStray, nowMs);
      if (this.#island === null) return this.#greet(frame);
      const durable = this.#deps.connections.receive(this.#island, frame);
      if (durable === undefined) return;
      this.#unstored ??= this.#countUnstored();
      this.#unstored.add(data.length, durable);
    });
  }

  /** Once in each heartbeat interval: looks whether the Island is silent and its token revoked, and measures the round trip. */
  look(nowMs: number): void {
    if (!this.isOpen) return;
    const leftMs = this.#heardMs + this.#silenceMs - nowMs;
    if (leftMs < this.#deps.heartbeatMs) this.#expectWithin(Math.max(0, leftMs));
    this.#deps.recheck(this.owner);
    this.#ping(nowMs);
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    this.#setUnfinished(0);
    const waitMs = this.#limits.count(data.length, this.#deps.clock.monotonicMs());
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
    if (error instanceof FloodError) this.#deps.onFlood(this.owner);
    this.#close(CLOSE.policyViolation, error.message);
  }

  #greet(frame: FromIsland): void {
    if (frame.type !== "hello") throw new ProtocolError(`${frame.type}: before hello`);
    if (this.#greeting) throw new ProtocolError("hello: said twice");
    this.#greeting = true;
    this.#expectWithin(this.#silenceMs);
    this.#deps.connections.connect(frame, this.owner, this.#sessionId, this).then(
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
    if (!this.isOpen) return this.#deps.connections.disconnect(island, this);
    this.#silence?.cancel();
    this.#silence = null;
    this.#watchPart = this.#deps.watch.add(this);
    this.#ping(this.#deps.clock.monotonicMs());
  }

  #setUnfinished(bytes: number): void {
    this.owner.share.changeUnfinished(this, bytes, this.#unfinishedBytes);
    this.#unfinishedBytes = bytes;
  }

  #waitForRoom(): void {
    if (this.owner.share.mayReadOn(this)) return;
    this.#pause().beginFor("room", NO_ROOM_PAUSE_MS, () => this.#waitForRoom());
  }

  #pause(): SocketPauses {
    return (this.#pauses ??= new SocketPauses(this.#socket, this.#deps.clock));
  }

  #countUnstored(): UnstoredFrames {
    return new UnstoredFrames(this.#deps.intake, {
      onWait: () => this.#pause().begin("storage"),
      onRoom: () => {
        this.#pauses?.end("storage");
        // Paused, it may have spoken and was not heard.
        this.#heardMs = this.#deps.clock.monotonicMs();
      },
    });
  }

  /** The round trip is measured once per heartbeat. */
  #ping(nowMs: number): void {
    this.#pingSentMs = nowMs;
    this.#socket.ping();
  }

  onPing(): void {
    this.#guard(() => this.#limits.countControl("ping", this.#deps.clock.monotonicMs()));
  }

  onPong(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#guard(() => this.#limits.countControl("pong", nowMs));
    if (this.#pingSentMs === null || this.#island === null) return;
    this.#deps.connections.noteRoundTrip(this.#island, nowMs - this.#pingSentMs);
    this.#pingSentMs = null;
  }

  get #silenceMs(): number {
    return this.#deps.heartbeatMs * SILENCE_IN_HEARTBEATS;
  }

  /** Cuts the Island off after `ms`, unless it serves and was heard by then. */
  #expectWithin(ms: number): void {
    this.#silence?.cancel();
    this.#silence = this.#deps.clock.schedule(ms, () => {
      this.#silence = null;
      const isServing = this.#island !== null && this.isOpen;
      const leftMs = this.#heardMs + this.#silenceMs - this.#deps.clock.monotonicMs();
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
    if (this.#watchPart !== null) this.#deps.watch.remove(this, this.#watchPart);
    this.#deps.onClosed(this);
    if (this.#island === null) return;
    this.#log("info", { code }, "Island disconnected");
    this.#deps.connections.disconnect(this.#island, this);
  }

  #log(level: "info" | "warn" | "error", facts: object, message: string): void {
    const island = this.#island === null ? {} : { island_id: this.#island.hostId };
    const ids = { session: this.#sessionId, account_id: this.owner.accountId, ...island };
    this.#deps.log[level]({ ...ids, ...facts }, message);
  }
}

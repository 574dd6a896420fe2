import type { Logger } from "pino";
import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { newId } from "../../shared/ids.ts";
import {
  CLOSE,
  encodeFrame,
  ProtocolError,
  readFromIsland,
  SILENCE_IN_HEARTBEATS,
} from "../../shared/protocol/codec.ts";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import type { AccountShare } from "./account-sessions.ts";
import { FloodError, FrameLimits, MAX_STATE_BYTES } from "./frame-limits.ts";
import type { FrameSource } from "./frame-intake.ts";
import type { IntakeBudget } from "./intake-budget.ts";
import type { IslandLink, IslandView } from "./island.ts";
import type { IslandConnections } from "./island-connections.ts";
import type { SessionSocket } from "./session-socket.ts";
import { SocketPauses } from "./socket-pauses.ts";
import { UnstoredFrames } from "./unstored-frames.ts";

export interface SessionDeps {
  readonly connections: IslandConnections;
  readonly clock: Clock;
  readonly log: Logger;
  readonly heartbeatMs: number;
  readonly intake: IntakeBudget;
}

/** The account whose token opened the session, and whether the token is still valid. */
export interface SessionOwner {
  readonly accountId: string;
  readonly share: AccountShare;
  isStillValid(): Promise<boolean>;
  /** The session ends because it was a flood. */
  onFlood(): void;
}

/** Longest wait for `hello` after the socket is open. */
const MAX_HELLO_WAIT_MS = 10_000;
/** Bytes of an unfinished frame of an Island without jobs: its reports, with room for the jobs that `hello` names. */
const MAX_IDLE_UNFINISHED_BYTES = 4 * MAX_STATE_BYTES;
/** When there is no room for an unfinished frame, the session looks again after this. */
const NO_ROOM_PAUSE_MS = 50;
/** Bytes that wait for the Island to read them. One that never reads is cut off here. */
const MAX_UNREAD_BYTES = 64 * MIB;
/** Longest reason of a close frame: 125 bytes less the code. Source: RFC 6455 §5.5. */
const MAX_REASON_BYTES = 123;

/** One Island's WebSocket: opening → waiting for hello → serving → closed. Decodes, watches for silence, and sends. */
export class IslandSession implements IslandLink, FrameSource {
  readonly #socket: SessionSocket;
  readonly #owner: SessionOwner;
  readonly #deps: SessionDeps;
  readonly #log: Logger;
  readonly #sessionId: string;
  #island: IslandView | null = null;
  #greeting = false;
  /** Set when the session decides to close: no frame is read any more. */
  #isClosing = false;
  readonly #limits: FrameLimits;
  readonly #unstored: UnstoredFrames;
  #unfinishedBytes = 0;
  readonly #pauses: SocketPauses;
  #pingSentMs: number | null = null;
  #silence: Timer | null = null;
  #pinger: Timer | null = null;

  constructor(socket: SessionSocket, owner: SessionOwner, deps: SessionDeps) {
    this.#socket = socket;
    this.#owner = owner;
    this.#deps = deps;
    this.#sessionId = newId("ses", deps.clock.now());
    this.#log = deps.log.child({ session: this.#sessionId });
    this.#pauses = new SocketPauses(socket, deps.clock);
    this.#limits = new FrameLimits(deps.clock, deps.heartbeatMs);
    this.#unstored = new UnstoredFrames(deps.intake, {
      onWait: () => {
        this.#pauses.begin("storage");
        this.#silence?.cancel();
      },
      onRoom: () => {
        this.#pauses.end("storage");
        if (this.isOpen) this.#expectWithin(deps.heartbeatMs * SILENCE_IN_HEARTBEATS);
      },
    });
    socket.attach({
      onMessage: (data, isBinary) => this.#onMessage(data, isBinary),
      onRead: (bytes) => this.#onRead(bytes),
      onPing: () => this.#guard(() => this.#limits.countControl("ping")),
      onPong: () => this.#onPong(),
      onError: (error) => this.#log.info({ error: error.message }, "Island socket failed"),
      onClose: (code) => this.#onClose(code),
    });
    this.#expectWithin(MAX_HELLO_WAIT_MS);
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.isOpen;
  }

  send(frame: FromCoordinator): void {
    if (!this.isOpen) return;
    if (this.#socket.bufferedBytes > MAX_UNREAD_BYTES) {
      this.#log.warn("An Island does not read what it is sent");
      this.#isClosing = true;
      return this.#socket.terminate();
    }
    this.#socket.send(encodeFrame(frame));
  }

  dismiss(reason: string, retryAfterMs: number | null): void {
    this.send({ type: "goodbye", reason, retryAfterMs });
    this.#close(CLOSE.goingAway, reason);
  }

  onQueued(): void {
    this.#pauses.begin("turn");
  }

  onQueueEmpty(): void {
    this.#pauses.end("turn");
  }

  take(data: Buffer): void {
    if (this.#isClosing) return;
    this.#guard(() => {
      const frame = readFromIsland(data);
      this.#expectWithin(this.#deps.heartbeatMs * SILENCE_IN_HEARTBEATS);
      const isStray = "jobId" in frame && this.#island?.has(frame) !== true;
      this.#limits.admit(frame, data.length, isStray);
      if (this.#island === null) return this.#greet(frame);
      if (frame.type === "heartbeat") this.#recheckOwner();
      const durable = this.#deps.connections.receive(this.#island, frame);
      if (durable !== undefined) this.#unstored.add(data.length, durable);
    });
  }

  #onRead(bytes: number): void {
    if (!this.isOpen) return;
    this.#setUnfinished(this.#unfinishedBytes + bytes);
    this.#guard(() => {
      const isIdle = this.#island?.isBusy !== true;
      if (isIdle && this.#unfinishedBytes > MAX_IDLE_UNFINISHED_BYTES)
        throw new FloodError("frame: too large without a job");
    });
    this.#waitForRoom();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    this.#setUnfinished(0);
    const waitMs = this.#limits.count(data.length);
    if (waitMs > 0) this.#pauses.beginFor("rate", waitMs);
    if (isBinary) this.#owner.share.intake.push(this, data);
    else this.#refuse(new ProtocolError("frame is text, not MessagePack"));
  }

  /** Ends the session if `receive` finds a bad frame or a flood. */
  #guard(receive: () => void): void {
    try {
      receive();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#refuse(error);
    }
  }

  #refuse(error: ProtocolError): void {
    if (this.#isClosing) return;
    this.#log.warn({ reason: error.message }, "Bad frame from an Island");
    if (error instanceof FloodError) this.#owner.onFlood();
    this.#close(CLOSE.policyViolation, error.message);
  }

  #greet(frame: FromIsland): void {
    if (frame.type !== "hello") throw new ProtocolError(`${frame.type}: before hello`);
    if (this.#greeting) throw new ProtocolError("hello: said twice");
    this.#greeting = true;
    this.#deps.connections.connect(frame, this.#owner.accountId, this.#sessionId, this).then(
      (island) => {
        if (island !== null) this.#serve(island);
      },
      (error: unknown) => {
        if (error instanceof ServiceError) return this.#close(CLOSE.policyViolation, error.message);
        this.#log.error({ err: error }, "Letting an Island in failed");
        return this.#close(1011, "internal error");
      },
    );
  }

  #serve(island: IslandView): void {
    this.#island = island;
    this.#log.info({ island: island.hostId }, "Island connected");
    if (this.isOpen) this.#ping();
    else this.#deps.connections.disconnect(island, this);
  }

  #setUnfinished(bytes: number): void {
    this.#owner.share.changeUnfinished(this, bytes, this.#unfinishedBytes);
    this.#unfinishedBytes = bytes;
  }

  #waitForRoom(): void {
    if (this.#owner.share.mayReadOn(this)) return;
    this.#pauses.beginFor("room", NO_ROOM_PAUSE_MS, () => this.#waitForRoom());
  }

  /** Ends the session if its token was revoked. */
  #recheckOwner(): void {
    this.#owner.isStillValid().then(
      (isValid) => {
        if (!isValid) this.dismiss("the Island token was revoked", null);
      },
      (error: unknown) => this.#log.error({ err: error }, "Checking an Island token failed"),
    );
  }

  /** Measures the round trip once per heartbeat. */
  #ping(): void {
    this.#pingSentMs = this.#deps.clock.monotonicMs();
    this.#socket.ping();
    this.#pinger = this.#deps.clock.schedule(this.#deps.heartbeatMs, () => this.#ping());
  }

  #onPong(): void {
    this.#guard(() => this.#limits.countControl("pong"));
    if (this.#pingSentMs === null || this.#island === null) return;
    this.#deps.connections.noteRoundTrip(this.#island, this.#deps.clock.monotonicMs() - this.#pingSentMs);
    this.#pingSentMs = null;
  }

  #expectWithin(ms: number): void {
    // Paused, it may speak and is not heard. Frames that were read already come nevertheless.
    if (this.#unstored.isWaiting) return;
    this.#silence?.cancel();
    this.#silence = this.#deps.clock.schedule(ms, () => {
      this.#log.info("Island is silent");
      this.#socket.terminate();
    });
  }

  #close(code: number, reason: string): void {
    this.#isClosing = true;
    this.#unstored.close();
    this.#pauses.close();
    // Cuts off an Island that does not answer the close.
    this.#expectWithin(this.#deps.heartbeatMs * SILENCE_IN_HEARTBEATS);
    this.#socket.close(
      code,
      Buffer.from(reason)
        .subarray(0, MAX_REASON_BYTES)
        .toString()
        .replace(/\uFFFD$/, ""),
    );
  }

  #onClose(code: number): void {
    this.#isClosing = true;
    this.#unstored.close();
    this.#pauses.close();
    this.#setUnfinished(0);
    this.#silence?.cancel();
    this.#pinger?.cancel();
    if (this.#island === null) return;
    this.#log.info({ island: this.#island.hostId, code }, "Island disconnected");
    this.#deps.connections.disconnect(this.#island, this);
  }
}

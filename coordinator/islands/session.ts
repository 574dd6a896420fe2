import type { Logger } from "pino";
import type { WebSocket } from "ws";
import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
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
import type { Intake } from "./intake.ts";
import type { IslandLink, IslandView } from "./island.ts";
import type { IslandConnections } from "./island-connections.ts";

export interface SessionDeps {
  readonly connections: IslandConnections;
  readonly clock: Clock;
  readonly log: Logger;
  readonly heartbeatMs: number;
  readonly intake: Intake;
}

/** The account whose token opened the session, and whether the token is still valid. */
export interface SessionOwner {
  readonly accountId: string;
  isStillValid(): Promise<boolean>;
}

/** Longest wait for `hello` after the socket is open. */
const MAX_HELLO_WAIT_MS = 10_000;
/** Longest reason of a close frame: 125 bytes less the code. Source: RFC 6455 §5.5. */
const MAX_REASON_BYTES = 123;

/** One Island's WebSocket: opening → waiting for hello → serving → closed. Decodes, watches for silence, and sends. */
export class IslandSession implements IslandLink {
  readonly #socket: WebSocket;
  readonly #owner: SessionOwner;
  readonly #deps: SessionDeps;
  readonly #log: Logger;
  readonly #sessionId: string;
  #island: IslandView | null = null;
  #greeting = false;
  /** Set when the session decides to close: no frame is read any more. */
  #isClosing = false;
  /** Frames that wait for their commit. */
  #unstoredBytes = 0;
  /** Ends the wait for the other sessions' frames; null while the socket is read. */
  #stopWaiting: (() => void) | null = null;
  #pingSentMs: number | null = null;
  #silence: Timer | null = null;
  #pinger: Timer | null = null;
  #corked = false;

  constructor(socket: WebSocket, owner: SessionOwner, deps: SessionDeps) {
    this.#socket = socket;
    this.#owner = owner;
    this.#deps = deps;
    this.#sessionId = newId("ses", deps.clock.now());
    this.#log = deps.log.child({ session: this.#sessionId });
    socket.binaryType = "nodebuffer";
    socket.on("message", (data, isBinary) => this.#onMessage(data as Buffer, isBinary));
    socket.on("pong", () => this.#onPong());
    socket.on("error", (error) => this.#log.info({ error: error.message }, "Island socket failed"));
    socket.on("close", (code) => this.#onClose(code));
    this.#expectWithin(MAX_HELLO_WAIT_MS);
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.readyState === this.#socket.OPEN;
  }

  send(frame: FromCoordinator): void {
    if (!this.isOpen) return;
    this.#cork();
    this.#socket.send(encodeFrame(frame), { binary: true });
  }

  dismiss(reason: string, retryAfterMs: number | null): void {
    this.send({ type: "goodbye", reason, retryAfterMs });
    this.#close(CLOSE.goingAway, reason);
  }

  /** Sends all frames of one turn of the event loop in one write: 5 times the frames a second, measured with frames of 100 bytes on two cores. */
  #cork(): void {
    if (this.#corked) return;
    const raw = (this.#socket as unknown as { _socket?: { cork(): void; uncork(): void } })._socket;
    if (raw === undefined) return;
    this.#corked = true;
    raw.cork();
    setImmediate(() => {
      this.#corked = false;
      raw.uncork();
    });
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    try {
      if (!isBinary) throw new ProtocolError("frame is text, not MessagePack");
      const frame = readFromIsland(data);
      this.#expectWithin(this.#deps.heartbeatMs * SILENCE_IN_HEARTBEATS);
      if (this.#island === null) return this.#greet(frame);
      if (frame.type === "heartbeat") this.#recheckOwner();
      const durable = this.#deps.connections.receive(this.#island, frame);
      if (durable !== undefined) this.#limitUnstored(data.length, durable);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#log.warn({ reason: error.message }, "Bad frame from an Island");
      this.#close(CLOSE.policyViolation, error.message);
    }
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

  /** Reads an Island no faster than storage takes what all Islands send. */
  #limitUnstored(bytes: number, durable: Promise<void>): void {
    const { intake } = this.#deps;
    this.#unstoredBytes += bytes;
    intake.add(bytes);
    if (!intake.hasRoom({ bytes: this.#unstoredBytes, lastFrameBytes: bytes })) this.#pause(bytes);
    void durable.then(() => {
      this.#unstoredBytes -= bytes;
      intake.remove(bytes);
    });
  }

  #pause(lastFrameBytes: number): void {
    if (this.#stopWaiting !== null) return;
    const { intake, heartbeatMs } = this.#deps;
    this.#socket.pause();
    this.#silence?.cancel();
    this.#stopWaiting = intake.onRoom(() => {
      const isHalfEmpty = this.#unstoredBytes <= intake.limits.islandIntakeBytes / 2;
      if (!isHalfEmpty || !intake.hasRoom({ bytes: this.#unstoredBytes, lastFrameBytes })) return;
      this.#resume();
      if (this.isOpen) this.#expectWithin(heartbeatMs * SILENCE_IN_HEARTBEATS);
    });
  }

  #resume(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
    this.#socket.resume();
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
    if (this.#pingSentMs === null || this.#island === null) return;
    this.#deps.connections.noteRoundTrip(this.#island, this.#deps.clock.monotonicMs() - this.#pingSentMs);
    this.#pingSentMs = null;
  }

  #expectWithin(ms: number): void {
    // Paused, it may speak and is not heard. Frames that were read already come nevertheless.
    if (this.#stopWaiting !== null) return;
    this.#silence?.cancel();
    this.#silence = this.#deps.clock.schedule(ms, () => {
      this.#log.info("Island is silent");
      this.#socket.terminate();
    });
  }

  #close(code: number, reason: string): void {
    this.#isClosing = true;
    this.#resume();
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
    this.#stopWaiting?.();
    this.#silence?.cancel();
    this.#pinger?.cancel();
    if (this.#island === null) return;
    this.#log.info({ island: this.#island.hostId, code }, "Island disconnected");
    this.#deps.connections.disconnect(this.#island, this);
  }
}

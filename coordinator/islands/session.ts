import type { Logger } from "pino";
import type { WebSocket } from "ws";
import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import { CLOSE, encodeFrame, ProtocolError, readFromIsland } from "../../shared/protocol/codec.ts";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import type { IslandDesk } from "./island-desk.ts";
import type { Island, IslandLink } from "./island.ts";

export interface SessionDeps {
  readonly desk: IslandDesk;
  readonly clock: Clock;
  readonly log: Logger;
  readonly heartbeatMs: number;
}

/** Longest wait for `hello` after the socket is open. */
const HELLO_LIMIT_MS = 10_000;
/** An Island that misses two heartbeats is lost; the half allows for delay. Source: DESIGN §5. */
const SILENCE_IN_HEARTBEATS = 2.5;
/** Longest reason that fits a close frame: 125 bytes less the code. Source: RFC 6455 §5.5. */
const MAX_REASON_BYTES = 123;

/** One Island's WebSocket: opening → waiting for hello → serving → closed. Decodes, watches for silence, and sends. */
export class IslandSession implements IslandLink {
  readonly #socket: WebSocket;
  readonly #accountId: string;
  readonly #deps: SessionDeps;
  readonly #log: Logger;
  readonly #sessionId: string;
  #island: Island | null = null;
  #greeting = false;
  #closed = false;
  #silence: Timer | null = null;
  #pinger: Timer | null = null;
  #corked = false;

  constructor(socket: WebSocket, accountId: string, deps: SessionDeps) {
    this.#socket = socket;
    this.#accountId = accountId;
    this.#deps = deps;
    this.#sessionId = newId("ses", deps.clock.now());
    this.#log = deps.log.child({ session: this.#sessionId });
    socket.binaryType = "nodebuffer";
    socket.on("message", (data, isBinary) => this.#onMessage(data as Buffer, isBinary));
    socket.on("pong", (sentAt) => this.#onPong(sentAt));
    socket.on("error", (error) => this.#log.info({ error: error.message }, "Island socket failed"));
    socket.on("close", (code) => this.#onClose(code));
    this.#expectWithin(HELLO_LIMIT_MS);
  }

  send(frame: FromCoordinator): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#cork();
    this.#socket.send(encodeFrame(frame), { binary: true });
  }

  dismiss(reason: string, retryAfterMs: number | null): void {
    this.send({ type: "goodbye", reason, retryAfterMs });
    this.#close(CLOSE.goingAway, reason);
  }

  /** All frames of one turn of the event loop leave in one write. Measured: 5 times the frames a second (LIBRARIES §8.2). */
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
    if (this.#closed) return;
    try {
      if (!isBinary) throw new ProtocolError("frame is text, not MessagePack");
      const frame = readFromIsland(data);
      this.#expectWithin(this.#deps.heartbeatMs * SILENCE_IN_HEARTBEATS);
      if (this.#island !== null) this.#deps.desk.receive(this.#island, frame);
      else this.#greet(frame);
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
    this.#deps.desk.connect(frame, this.#accountId, this.#sessionId, this).then(
      (island) => this.#serve(island),
      (error: unknown) => {
        if (error instanceof ServiceError) return this.#close(CLOSE.policyViolation, error.message);
        this.#log.error({ err: error }, "An Island could not be let in");
        return this.#close(1011, "internal error");
      },
    );
  }

  #serve(island: Island): void {
    this.#island = island;
    this.#log.info({ island: island.hostId }, "Island connected");
    if (this.#closed) this.#deps.desk.disconnect(island, this);
    else this.#ping();
  }

  /** Measures the round trip once per heartbeat. */
  #ping(): void {
    const sentAt = Buffer.alloc(8);
    sentAt.writeDoubleBE(this.#deps.clock.monotonicMs());
    this.#socket.ping(sentAt);
    this.#pinger = this.#deps.clock.schedule(this.#deps.heartbeatMs, () => this.#ping());
  }

  #onPong(sentAt: Buffer): void {
    if (this.#island !== null && sentAt.length === 8) {
      this.#island.rttMs = Math.max(0, this.#deps.clock.monotonicMs() - sentAt.readDoubleBE());
    }
  }

  #expectWithin(ms: number): void {
    this.#silence?.cancel();
    if (this.#closed) return;
    this.#silence = this.#deps.clock.schedule(ms, () => {
      this.#log.info("Island is silent");
      this.#socket.terminate();
    });
  }

  #close(code: number, reason: string): void {
    // Whoever does not answer the close is cut off by the silence timer, which is still set.
    this.#socket.close(
      code,
      Buffer.from(reason)
        .subarray(0, MAX_REASON_BYTES)
        .toString()
        .replace(/\uFFFD$/, ""),
    );
  }

  #onClose(code: number): void {
    this.#closed = true;
    this.#silence?.cancel();
    this.#pinger?.cancel();
    if (this.#island === null) return;
    this.#log.info({ island: this.#island.hostId, code }, "Island disconnected");
    this.#deps.desk.disconnect(this.#island, this);
  }
}

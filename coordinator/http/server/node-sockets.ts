import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { gatherWrites } from "../../../shared/async/gather-writes.ts";
import { MAX_FRAME_BYTES } from "../../../shared/protocol/codec.ts";
import type { AcceptedUpgrade, SessionSocket, SocketEvents } from "../../islands/session-socket.ts";

/** Maximum fragments of one frame. Agents send unfragmented frames. A fragment takes 140 bytes of memory. */
const MAX_FRAGMENTS = 1_024;
/** Maximum socket reads for one frame: the largest frame in reads of 512 bytes. */
const MAX_FRAME_READS = 16_384;

/** Returns a function that does the WebSocket handshake and refuses an invalid one with 400. */
export function nodeSockets() {
  const accepted = new WeakMap<IncomingMessage, AcceptedUpgrade>();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_FRAME_READS,
    handleProtocols: (offered, request) => accepted.get(request)?.chooseProtocol([...offered]) ?? false,
  });
  server.on("headers", (headers, request) => {
    const own = accepted.get(request)?.headers ?? {};
    headers.push(...Object.entries(own).map(([name, value]) => `${name}: ${value}`));
  });

  return (request: IncomingMessage, socket: Duplex, head: Buffer, upgrade: AcceptedUpgrade): void => {
    socket.once("close", () => upgrade.release());
    // The event "close" was already emitted.
    if (socket.destroyed) upgrade.release();
    accepted.set(request, upgrade);
    server.handleUpgrade(request, socket, head, (ws) =>
      upgrade.open(new NodeSocket(ws, socket), ws.protocol === "" ? undefined : ws.protocol),
    );
  };
}

class NodeSocket implements SessionSocket {
  readonly #ws: WebSocket;
  readonly #raw: Duplex;

  constructor(ws: WebSocket, raw: Duplex) {
    this.#ws = ws;
    this.#raw = raw;
  }

  /** Resolves when the socket is closed. The promise is created on demand: there are many idle Islands. */
  get closed(): Promise<void> {
    if (this.#ws.readyState === this.#ws.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#ws.once("close", () => resolve()));
  }

  get isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  attach(events: SocketEvents): void {
    const ws = this.#ws;
    ws.binaryType = "nodebuffer";
    ws.on("message", (data, isBinary) => events.onMessage(data as Buffer, isBinary));
    ws.on("ping", () => events.onPing());
    ws.on("pong", () => events.onPong());
    ws.on("error", (error) => events.onError(error));
    ws.on("close", (code) => events.onClose(code));
    // `ws` emits the frames in its listener, which runs first.
    this.#raw.on("data", (chunk: Buffer) => events.onRead(chunk.length));
  }

  /** Sends a frame. One write for all frames of a tick sends 5 times as many (100-byte frames on two cores). */
  send(frame: Uint8Array, until: "microtask" | "tick"): void {
    gatherWrites(this.#raw, until);
    this.#ws.send(frame, { binary: true });
  }

  ping(): void {
    this.#ws.ping();
  }

  pause(): void {
    this.#ws.pause();
  }

  resume(): void {
    this.#ws.resume();
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }
}

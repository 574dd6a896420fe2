import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { gatherWrites } from "../../../shared/async/gather-writes.ts";
import { MAX_FRAME_BYTES } from "../../../shared/protocol/codec.ts";
import type { AcceptedUpgrade, SessionSocket, SocketEvents } from "../../islands/session-socket.ts";

/** Fragments of one frame. Agents send none; each takes 140 bytes beside its content, of which it may have one. */
const MAX_FRAGMENTS = 1_024;
/** Reads of the socket in which the largest frame may come: 512 bytes in each. */
const MAX_FRAME_READS = 16_384;

/**
 * Makes WebSockets of upgraded connections of node:http, with `ws`. The function that it returns makes the handshake, and answers with 400
 * when the client's part of it is wrong.
 */
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
    // It has left already, so "close" never comes.
    if (socket.destroyed) upgrade.release();
    accepted.set(request, upgrade);
    server.handleUpgrade(request, socket, head, (ws) =>
      upgrade.open(new NodeSocket(ws, socket), ws.protocol === "" ? undefined : ws.protocol),
    );
  };
}

/** A WebSocket of `ws`. */
class NodeSocket implements SessionSocket {
  readonly #ws: WebSocket;
  readonly #raw: Duplex;

  constructor(ws: WebSocket, raw: Duplex) {
    this.#ws = ws;
    this.#raw = raw;
  }

  /** Made when it is asked for: idle Islands are many. */
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
    // After the listener of ws, which emits the frames.
    this.#raw.on("data", (chunk: Buffer) => events.onRead(chunk.length));
  }

  /** All frames of one turn in one write are 5 times the frames a second, measured with frames of 100 bytes on two cores. */
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

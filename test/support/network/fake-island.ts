import { once } from "node:events";
import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { encodeFrame, readFromCoordinator, SESSION_PATH, SUBPROTOCOL } from "../../../shared/protocol/codec.ts";
import type { FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello } from "../../../shared/protocol/from-island.ts";
import { makeHello } from "./frames.ts";

type FrameOf<T extends FromCoordinator["type"]> = Extract<FromCoordinator, { type: T }>;

/** An Island whose frames the test sends over a real socket. */
export class FakeIsland implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly #received: FromCoordinator[] = [];
  readonly #wakers = new Set<() => void>();
  #handle: ((frame: FromCoordinator) => void) | null = null;
  readonly closed: Promise<{ code: number; reason: string }>;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      const frame = readFromCoordinator(data as Buffer);
      if (this.#handle !== null) return this.#handle(frame);
      this.#received.push(frame);
      for (const wake of this.#wakers) wake();
    });
    this.closed = new Promise((resolve) => {
      socket.once("close", (code: number, reason: Buffer) => resolve({ code, reason: reason.toString() }));
    });
    void this.closed.then(() => {
      for (const wake of this.#wakers) wake();
    });
  }

  /** Opens the socket without sending frames. */
  static async dial(url: string, token: string, protocols: string | string[] = SUBPROTOCOL): Promise<FakeIsland> {
    const address = new URL(SESSION_PATH, url.replace(/^http/, "ws"));
    const socket = new WebSocket(address, protocols, { headers: { authorization: `Bearer ${token}` } });
    const island = new FakeIsland(socket);
    await once(socket, "open");
    return island;
  }

  /** Opens the socket, sends `hello` and waits for `welcome`. */
  static async join(url: string, token: string, hello: Partial<Hello> = {}): Promise<FakeIsland> {
    const island = await FakeIsland.dial(url, token);
    island.send(makeHello(hello));
    await island.next("welcome");
    return island;
  }

  /** Sends frames in one packet, if they fit. */
  send(...frames: FromIsland[]): void {
    const { _socket: socket } = this.socket as unknown as { readonly _socket: Socket };
    socket.cork();
    for (const frame of frames) this.socket.send(encodeFrame(frame));
    socket.uncork();
  }

  sendRaw(data: Buffer | string): void {
    this.socket.send(data);
  }

  /** Returns the next received frame of a type and removes it. Waits for the frame if necessary. */
  async next<T extends FromCoordinator["type"]>(
    type: T,
    match: (frame: FrameOf<T>) => boolean = () => true,
  ): Promise<FrameOf<T>> {
    for (;;) {
      const index = this.#received.findIndex((frame) => frame.type === type && match(frame as FrameOf<T>));
      if (index >= 0) return this.#received.splice(index, 1)[0] as FrameOf<T>;
      if (this.socket.readyState === WebSocket.CLOSED) {
        const { code, reason } = await this.closed;
        throw new Error(`The session closed before ${type}: ${code} ${reason}`);
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#wakers.delete(wake);
          resolve();
        };
        this.#wakers.add(wake);
      });
    }
  }

  /** Passes pending and later frames to `handle` instead of storing them. */
  handle(handle: (frame: FromCoordinator) => void): void {
    this.#handle = handle;
    for (const frame of this.#received.splice(0)) handle(frame);
  }

  /** Returns pending frames of a type. */
  pending<T extends FromCoordinator["type"]>(type: T): FrameOf<T>[] {
    return this.#received.filter((frame) => frame.type === type) as FrameOf<T>[];
  }

  /** Breaks the connection without a close frame. */
  cut(): void {
    this.socket.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await this.closed;
  }
}

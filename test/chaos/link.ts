import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** One direction of a connection. */
class Direction {
  readonly from: Socket;
  readonly to: Socket;
  /** Pieces in flight, oldest first. */
  readonly #pieces: Buffer[] = [];
  #isStalled = false;
  #isFull = false;

  constructor(from: Socket, to: Socket, delayMs: () => number) {
    this.from = from;
    this.to = to;
    from.on("data", (bytes: Buffer) => {
      this.#pieces.push(bytes);
      // Each timer passes on the oldest piece, so that none overtakes another when the delay changes.
      if (delayMs() === 0 && this.#pieces.length === 1) this.#passOne();
      else setTimeout(() => this.#passOne(), delayMs());
    });
    to.on("drain", () => this.#arrange({ isFull: false }));
  }

  setStalled(isStalled: boolean): void {
    this.#arrange({ isStalled });
  }

  #passOne(): void {
    const bytes = this.#pieces.shift();
    if (bytes !== undefined && !this.to.destroyed && !this.to.write(bytes)) this.#arrange({ isFull: true });
  }

  #arrange({ isStalled = this.#isStalled, isFull = this.#isFull }): void {
    this.#isStalled = isStalled;
    this.#isFull = isFull;
    if (isStalled || isFull) this.from.pause();
    else this.from.resume();
  }
}

interface Connection {
  /** Socket of the Island or the client. */
  readonly near: Socket;
  /** Socket to the coordinator. */
  readonly far: Socket;
  readonly up: Direction;
  readonly down: Direction;
}

/** A TCP relay in front of a server. Tests break its connections. */
export class Link implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  /** Sockets to the coordinator whose near ends are gone. */
  readonly #orphans = new Set<Socket>();
  readonly #targetPort: () => number;
  #isSevered = false;
  #isStalledUp = false;
  #isStalledDown = false;
  #delayMs = 0;

  private constructor(targetPort: () => number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ noDelay: true }, (near) => this.#relay(near));
  }

  /** @param targetPort port, or a function that returns the port for each connection like a load balancer. */
  static open(targetPort: number | (() => number)): Promise<Link> {
    const link = new Link(typeof targetPort === "number" ? () => targetPort : targetPort);
    return new Promise((resolve) => {
      link.#server.listen(0, "127.0.0.1", () => resolve(link));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Closes all connections in an orderly way. New connections work. */
  cut(): void {
    for (const { near, far } of this.#connections) {
      near.end();
      far.end();
    }
  }

  reset(): void {
    for (const { near, far } of this.#connections) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Drops the near ends without notifying the coordinator, as after a power loss. */
  halfOpen(): void {
    for (const connection of this.#connections) {
      const { near, far } = connection;
      this.#connections.delete(connection);
      this.#orphans.add(far);
      near.removeAllListeners();
      near.on("error", () => undefined).resetAndDestroy();
      far.removeAllListeners("data").pause();
      far.on("close", () => this.#orphans.delete(far));
    }
  }

  /** Breaks all connections, and refuses new ones until `heal`. */
  sever(): void {
    this.#isSevered = true;
    this.reset();
  }

  /** Holds back all data until `heal`, without loss, as TCP does. */
  stall(direction: "up" | "down" | "both"): void {
    this.#isStalledUp ||= direction !== "down";
    this.#isStalledDown ||= direction !== "up";
    this.#arrangeAll();
  }

  /** Delays all data. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  heal(): void {
    this.#isSevered = false;
    this.#isStalledUp = false;
    this.#isStalledDown = false;
    this.#delayMs = 0;
    this.#arrangeAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset();
    for (const socket of this.#orphans) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #relay(near: Socket): void {
    if (this.#isSevered) return void near.on("error", () => undefined).resetAndDestroy();
    const far = connect({ port: this.#targetPort(), host: "127.0.0.1", noDelay: true });
    const delayMs = (): number => this.#delayMs;
    const connection = { near, far, up: new Direction(near, far, delayMs), down: new Direction(far, near, delayMs) };
    this.#connections.add(connection);
    const end = (): void => {
      this.#connections.delete(connection);
      near.destroy();
      far.destroy();
    };
    near.on("end", () => far.end());
    far.on("end", () => near.end());
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    this.#arrange(connection);
  }

  #arrangeAll(): void {
    for (const connection of this.#connections) this.#arrange(connection);
  }

  #arrange({ up, down }: Connection): void {
    up.setStalled(this.#isStalledUp);
    down.setStalled(this.#isStalledDown);
  }
}

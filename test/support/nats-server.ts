import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { systemClock } from "../../shared/clock.ts";
import { freePort } from "./free-port.ts";

const MAX_START_MS = 20_000;

export const hasNats = (): boolean => spawnSync("nats-server", ["--version"]).status === 0;

/** A NATS server on its own port. */
export class NatsServer implements AsyncDisposable {
  readonly port: number;
  #child: ChildProcess;

  private constructor(port: number) {
    this.port = port;
    this.#child = this.#spawn();
  }

  /** Null where nats-server is not installed. */
  static async start(): Promise<NatsServer | null> {
    if (!hasNats()) return null;
    const server = new NatsServer(await freePort());
    await server.#untilReady();
    return server;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get address(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** As a crash. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async startAgain(): Promise<void> {
    this.#child = this.#spawn();
    await this.#untilReady();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
  }

  #spawn(): ChildProcess {
    return spawn("nats-server", ["-a", "127.0.0.1", "-p", String(this.port)], { stdio: "ignore" });
  }

  async #untilReady(): Promise<void> {
    const limit = AbortSignal.timeout(MAX_START_MS);
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`nats-server ended with ${this.#child.exitCode}`);
      limit.throwIfAborted();
      const socket = connect(this.port, "127.0.0.1");
      const isOpen = await once(socket, "connect").then(
        () => true,
        () => false,
      );
      socket.destroy();
      if (isOpen) return;
      await systemClock.sleep(20);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}

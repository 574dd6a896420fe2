import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { requireDebian } from "./require-debian.ts";
import { untilListening } from "./until-listening.ts";

const CONFIG = "nats.conf";

export const hasNats = (): boolean => spawnSync("nats-server", ["--version"]).status === 0;

/** A NATS server on its own port. */
export class NatsServer implements AsyncDisposable {
  readonly port: number;
  /** Directory of the server's configuration, or null if it has none. */
  readonly #directory: string | null;
  #child: ChildProcess;

  private constructor(port: number, directory: string | null) {
    this.port = port;
    this.#directory = directory;
    this.#child = this.#spawn();
  }

  /**
   * @param config text of a configuration file.
   * @throws if nats-server is not installed.
   */
  static async start(config?: string): Promise<NatsServer> {
    requireDebian("nats-server", "nats-server");
    const directory = config === undefined ? null : await mkdtemp(join(tmpdir(), "atoll-nats-"));
    if (directory !== null && config !== undefined) await writeFile(join(directory, CONFIG), config);
    const server = new NatsServer(await freePort(), directory);
    await untilListening(server.port, server.#child);
    return server;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get address(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Kills the server, as a crash would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async startAgain(): Promise<void> {
    this.#child = this.#spawn();
    await untilListening(this.port, this.#child);
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    if (this.#directory !== null) await rm(this.#directory, { recursive: true, force: true });
  }

  #spawn(): ChildProcess {
    const config = this.#directory === null ? [] : ["-c", join(this.#directory, CONFIG)];
    return spawn("nats-server", [...config, "-a", "127.0.0.1", "-p", String(this.port)], { stdio: "ignore" });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../../island-agent/runtimes/sandbox/choose-sandbox.ts";
import { systemClock } from "../../../shared/clock.ts";
import { freePort } from "../free-port.ts";
import { requireDebian } from "./require-debian.ts";

const PACKAGE = "llama.cpp-tools (test/support/servers/install-llama-server.sh)";
const MAX_START_MS = 60_000;
export const TINY_CHAT_MODEL = join(import.meta.dirname, "../../../catalog/models/tiny-islander.gguf");

interface LlamaServerOptions {
  /** Default: the demo model. */
  readonly model?: string;
  /** Default 4. */
  readonly slots?: number;
  readonly contextTokens?: number;
  /** Default 1. */
  readonly threads?: number;
  /** File with which the model reads images. */
  readonly projector?: string;
  readonly flags?: readonly string[];
  /** Default: a free port. */
  readonly port?: number;
}

/**
 * Returns a command of llama-server that also works in a sandbox, where the script of install-llama-server.sh has no shell. Quotes keep
 * spaces.
 */
export function llamaServerCommand(): string {
  const path = requireDebian(findProgram("llama-server", process.env) ?? "llama-server", PACKAGE);
  const [, program] = /^#!\/bin\/sh\nexec (.+) "\$@"\s*$/.exec(readFileSync(path, "utf8").slice(0, 1_000)) ?? [];
  return program ?? path;
}

export const hasLlamaServer = (): boolean => findProgram("llama-server", process.env) !== null;

/** llama.cpp's own server, as hosts run it. */
export class LlamaServer implements AsyncDisposable {
  readonly port: number;
  readonly url: string;
  #options: LlamaServerOptions;
  #child: ChildProcess;

  private constructor(port: number, options: LlamaServerOptions) {
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#options = options;
    this.#child = this.#spawn();
  }

  /** Starts a server and waits until it has loaded the model. @throws if llama-server is not installed. */
  static async start(options: LlamaServerOptions = {}): Promise<LlamaServer> {
    requireDebian("llama-server", PACKAGE);
    const server = new LlamaServer(options.port ?? (await freePort()), options);
    await server.#untilReady();
    return server;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  signal(name: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(name);
  }

  /** Ends the server and starts it again at the same address. */
  async restart(options: LlamaServerOptions = this.#options): Promise<void> {
    await this.stop();
    this.#options = options;
    this.#child = this.#spawn();
    await this.#untilReady();
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  /** Returns the number of runs that the server works on. */
  async running(): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(/^llamacpp:requests_processing (\d+)$/m.exec(text)?.[1]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #spawn(): ChildProcess {
    const {
      model = TINY_CHAT_MODEL,
      slots = 4,
      contextTokens = 1_024,
      threads = 1,
      projector,
      flags = [],
    } = this.#options;
    const size = ["--ctx-size", String(contextTokens * slots), "--parallel", String(slots)];
    const place = ["--host", "127.0.0.1", "--port", String(this.port), "--threads", String(threads)];
    const vision = projector === undefined ? [] : ["--mmproj", projector];
    const args = ["--model", model, ...vision, ...size, ...place, "--jinja", "--metrics", ...flags];
    return spawn("llama-server", args, { stdio: "ignore" });
  }

  async #untilReady(): Promise<void> {
    const limit = AbortSignal.timeout(MAX_START_MS);
    while (!(await this.#isHealthy())) {
      if (this.#child.exitCode !== null) throw new Error(`llama-server ended with ${this.#child.exitCode}`);
      limit.throwIfAborted();
      await systemClock.sleep(50);
    }
  }

  async #isHealthy(): Promise<boolean> {
    return fetch(`${this.url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

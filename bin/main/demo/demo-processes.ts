import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import { systemClock } from "../../../shared/clock.ts";
import { packageRoot } from "../package-info.ts";

type ProgramName = "coordinator" | "island";

/**
 * Secrets, which are passed as environment variables because other users of the machine can see a command's arguments.
 */
type Secrets = Readonly<Record<string, string>>;

const MAX_START_MS = 60_000;
const MAX_STOP_MS = 10_000;

/** The processes that the demo starts. `stop()` ends all of them; afterwards no process can start. */
export class DemoProcesses {
  readonly #children: Child[] = [];
  #isStopped = false;

  /** Starts a program that keeps running. */
  start(name: ProgramName, args: readonly string[], secrets: Secrets = {}): Child {
    if (this.#isStopped) throw new Error(`The ${name} cannot start, because the demo is stopping`);
    const child = new Child(name, args, secrets);
    this.#children.push(child);
    return child;
  }

  /** Runs a command to its end. Resolves with its standard output. @throws if the command fails. */
  async run(name: ProgramName, args: readonly string[], secrets: Secrets = {}): Promise<string> {
    const child = this.start(name, args, secrets);
    const code = await child.ended;
    this.#children.splice(this.#children.indexOf(child), 1);
    if (code !== 0) throw new Error(`${name} ${args[0]} ended with ${code}: ${child.stderr.trim()}`);
    return child.stdout;
  }

  /** Ends the processes one by one, the most recently started first. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const child of this.#children.toReversed()) await child.stop();
  }

  /** Returns the standard error of all processes, as text for the user. */
  errorOutput(): string {
    const withErrors = this.#children.filter(({ stderr }) => stderr !== "");
    return withErrors.map(({ name, stderr }) => `--- ${name}\n${stderr}`).join("");
  }
}

/** One of the two programs, started as a user starts it. */
export class Child {
  readonly name: ProgramName;
  /** Resolves with the exit code or the signal when the process has ended and all its output is read. */
  readonly ended: Promise<number | string>;
  readonly #process: ChildProcess;
  #stdout = "";
  #stderr = "";

  constructor(name: ProgramName, args: readonly string[], secrets: Secrets) {
    this.name = name;
    const program = join(import.meta.dirname, "..", "..", `${name}${extname(import.meta.filename)}`);
    this.#process = spawn(process.execPath, [program, ...args], {
      cwd: packageRoot,
      stdio: ["ignore", "pipe", "pipe"],
      // The demo must not preload models. The models that it needs are small, and the demo deletes them when it ends.
      env: { ...process.env, ISLAND_MODELS_PRELOAD: "false", ISLAND_MODELS_MIN_FREE_GB: "0", ...secrets },
      // Ctrl-C in the terminal must reach only the demo, which ends its children in order.
      detached: true,
    });
    this.#process.stdout?.on("data", (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#process.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.ended = once(this.#process, "close").then(([code, signal]) => (code ?? signal) as number | string);
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves with the first match in standard output. @throws if the process ends first or takes too long. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    const limit = AbortSignal.timeout(MAX_START_MS);
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match !== null) return match;
      if (limit.aborted) throw new Error(`The ${this.name} did not start within ${MAX_START_MS / 1_000} s`);
      const output = once(this.#process.stdout as NodeJS.ReadableStream, "data", { signal: limit });
      await Promise.race([output.catch(() => undefined), this.rejectOnExit()]);
    }
  }

  /** Rejects when the process ends. */
  async rejectOnExit(): Promise<never> {
    throw new Error(`The ${this.name} ended with ${await this.ended}`);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill("SIGTERM");
    const limit = systemClock.schedule(MAX_STOP_MS, () => this.#process.kill("SIGKILL"));
    await this.ended;
    limit.cancel();
  }
}

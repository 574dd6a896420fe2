import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { systemClock } from "../../shared/clock.ts";
import { packageRoot } from "./package.ts";

const START_LIMIT_MS = 15_000;
const STOP_LIMIT_MS = 10_000;

/** One of the two programs, started as a user would. */
export class Child {
  readonly name: string;
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;
  #stdout = "";
  #stderr = "";

  constructor(name: "coordinator" | "island", args: readonly string[]) {
    this.name = name;
    this.#process = spawn(process.execPath, [join(packageRoot, "bin", `${name}.ts`), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      // A Ctrl-C in the terminal reaches the demo alone, which ends its children in order.
      detached: true,
    });
    this.#process.stdout?.on("data", (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#process.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#exit = once(this.#process, "close");
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves with the first group of `pattern` when standard output has it. */
  async prints(pattern: RegExp): Promise<string> {
    const limit = AbortSignal.timeout(START_LIMIT_MS);
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match !== null) return match[1] ?? "";
      if (this.#process.exitCode !== null) throw new Error(`the ${this.name} ended with ${this.#process.exitCode}`);
      if (limit.aborted) throw new Error(`the ${this.name} did not start within ${START_LIMIT_MS / 1_000} s`);
      const output = once(this.#process.stdout as NodeJS.ReadableStream, "data", { signal: limit });
      await Promise.race([output, this.#exit]).catch(() => undefined);
    }
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill("SIGTERM");
    const limit = systemClock.schedule(STOP_LIMIT_MS, () => this.#process.kill("SIGKILL"));
    await this.#exit;
    limit.cancel();
  }
}

/** Runs a command to its end and reads its JSON, if it printed any. */
export async function runToEnd<T = unknown>(name: "coordinator" | "island", ...args: string[]): Promise<T> {
  const child = spawn(process.execPath, [join(packageRoot, "bin", `${name}.ts`), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${name} ${args[0]} ended with ${code}: ${stderr.trim()}`);
  return (stdout.startsWith("{") ? JSON.parse(stdout) : undefined) as T;
}

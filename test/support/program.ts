import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { isAbsolute, join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
/**
 * Variable for Node.js's cache of compiled code, which vitest.config.ts sets. Without the cache, programs take twice as
 * long to start.
 */
const CACHE_VARIABLE = "NODE_COMPILE_CACHE";
const COMPILE_CACHE = { [CACHE_VARIABLE]: process.env[CACHE_VARIABLE] };

export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program in a separate process. */
export class Program implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #exit: Promise<ProgramResult>;
  #stdout = "";
  #stderr = "";

  /**
   * Starts the program. `program` is one of `bin/` or an absolute path. `stdin` is its standard input, which is empty
   * by default. `cwd` is its working directory, by default the repository.
   */
  constructor(
    program: "coordinator" | "island" | "main/demo" | (string & {}),
    args: readonly string[],
    env: Record<string, string> = {},
    stdin = "",
    cwd = ROOT,
  ) {
    const path = isAbsolute(program) ? program : join(ROOT, "bin", `${program}.ts`);
    this.process = spawn(process.execPath, [path, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...COMPILE_CACHE, ...env },
      stdio: "pipe",
    });
    // Ignores errors, because the program may end without reading.
    this.process.stdin?.on("error", () => undefined).end(stdin);
    this.process.stdout?.on("data", (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.process.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#exit = once(this.process, "close").then(([code]) => ({
      code: code as number | null,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }));
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves with the first match in standard output. Rejects if the program ends first. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const ended = this.#exit.then((result) => {
      throw new Error(`Ended with ${result.code} before it printed ${pattern}:\n${result.stdout}\n${result.stderr}`);
    });
    ended.catch(() => undefined);
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match !== null) return match;
      await Promise.race([ended, once(this.process.stdout as NodeJS.ReadableStream, "data")]);
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** Resolves when the program has ended and all its output was read. */
  ended(): Promise<ProgramResult> {
    return this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.kill("SIGTERM");
    const stopped = await Promise.race([this.#exit.then(() => true), wait(15_000)]);
    if (!stopped) this.kill("SIGKILL");
    await this.#exit;
  }
}

function wait(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}

/** Runs a program to its end. */
export function runProgram(name: "coordinator" | "island" | "main/demo", ...args: string[]): Promise<ProgramResult> {
  return new Program(name, args).ended();
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** Time after which a client counts as hung. */
const LIMIT_MS = 90_000;

export interface CliOptions {
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Contents of the files in the client's home, by path. The working directory is `work` in the home. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command-line client with a separate process group and home directory, without a terminal. */
export class Cli implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #home = mkdtempSync(join(tmpdir(), "atoll-client-"));
  readonly #ended: Promise<CliResult>;
  #stdout = "";
  #stderr = "";

  constructor({ command: [program, ...args], env = {}, files = {} }: CliOptions) {
    const work = join(this.#home, "work");
    mkdirSync(work);
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.#home, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
    this.#child = spawn(program, args, {
      cwd: work,
      env: { PATH: path, HOME: this.#home, TMPDIR: this.#home, TERM: "dumb", NO_COLOR: "1", LANG: "C.UTF-8", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#child.stdout?.on("data", (part: Buffer) => (this.#stdout += part.toString()));
    this.#child.stderr?.on("data", (part: Buffer) => (this.#stderr += part.toString()));
    let isHung = false;
    const timer = setTimeout(() => {
      isHung = true;
      this.#signalGroup("SIGKILL");
    }, LIMIT_MS);
    this.#ended = once(this.#child, "close").then(([code]) => {
      clearTimeout(timer);
      const [stdout, stderr] = [this.#stdout, this.#stderr];
      if (isHung) throw new Error(`${program} did not end within ${LIMIT_MS} ms:\n${stdout}\n${stderr}`);
      return { code: code as number | null, stdout, stderr };
    });
    this.#ended.catch(() => undefined);
  }

  /** Runs a client to its end. */
  static async run(options: CliOptions): Promise<CliResult> {
    await using cli = new Cli(options);
    return await cli.ended();
  }

  ended(): Promise<CliResult> {
    return this.#ended;
  }

  /** Sends SIGINT to the group, like Ctrl-C in a terminal. */
  interrupt(): void {
    this.#signalGroup("SIGINT");
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // The group has ended.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signalGroup("SIGKILL");
    await this.#ended.catch(() => undefined);
    rmSync(this.#home, { recursive: true, force: true });
  }
}

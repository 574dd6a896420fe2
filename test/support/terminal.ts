import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A shell in a pseudo-terminal of `script` (util-linux), in which a test types. */
export class Terminal implements AsyncDisposable {
  readonly #process: ChildProcess;
  #shown = "";
  /** Length of the text up to the last match. */
  #read = 0;

  constructor(env: Readonly<Record<string, string>>) {
    const command = ["--quiet", "--flush", "--command", "sh", "/dev/null"];
    this.#process = spawn("script", command, { env: { ...env, SHELL: "/bin/sh" }, stdio: "pipe" });
    this.#process.stdout?.on("data", (chunk: Buffer) => (this.#shown += chunk.toString()));
  }

  /** Everything that the terminal has shown. */
  get shown(): string {
    return this.#shown;
  }

  type(text: string): void {
    this.#process.stdin?.write(text);
  }

  /** Resolves with the next match after the last one. @throws if it is not shown in time. */
  async shows(pattern: RegExp, limitMs = 60_000): Promise<RegExpExecArray> {
    const limit = AbortSignal.timeout(limitMs);
    for (;;) {
      const match = pattern.exec(this.#shown.slice(this.#read));
      if (match !== null) {
        this.#read += match.index + match[0].length;
        return match;
      }
      await once(this.#process.stdout as NodeJS.ReadableStream, "data", { signal: limit }).catch(() => {
        throw new Error(`The terminal did not show ${pattern}:\n${this.#shown}`);
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, "close");
    // The programs in a closed terminal get SIGHUP.
    this.#process.kill("SIGKILL");
    await ended;
  }
}

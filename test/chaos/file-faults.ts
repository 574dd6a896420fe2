import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Program } from "../support/program.ts";

/** Libraries of Debian's package `fiu-utils`: https://blitiri.com.ar/p/libfiu/ */
const SHIMS = ["/usr/lib/fiu/fiu_run_preload.so", "/usr/lib/fiu/fiu_posix_preload.so"];
const EIO = 5;

/** Write calls of SQLite that sockets do not use. Sources: os_unix.c of SQLite, and `function_list.gz` of fiu-utils. */
const WRITES = ["posix/io/rw/pwrite", "posix/io/rw/ftruncate"];
const SYNCS = ["posix/io/sync/fsync", "posix/io/sync/fdatasync"];

/** `write`: all writes fail. `sync`: all syncs fail. `some`: a fifth of the writes and syncs fails. */
export type WriteFault = "write" | "sync" | "some";

const COMMANDS: Readonly<Record<WriteFault, readonly string[]>> = {
  write: WRITES.map((name) => `enable name=${name},failinfo=${EIO}`),
  sync: SYNCS.map((name) => `enable name=${name},failinfo=${EIO}`),
  some: [...WRITES, ...SYNCS].map((name) => `enable_random name=${name},probability=0.2,failinfo=${EIO}`),
};
const END = [...WRITES, ...SYNCS].map((name) => `disable name=${name}`);

/** Makes file calls of a program and its restarts fail with EIO, like a broken disk. */
export class FileFaults {
  static readonly isPossible = SHIMS.every((path) => existsSync(path));
  readonly #pipes: string;
  #fault: WriteFault | null = null;

  /** @param pipes prefix of the names of its named pipes. */
  constructor(pipes: string) {
    this.#pipes = pipes;
  }

  /** Returns the environment for a process that starts now. */
  environment(): { readonly preload: readonly string[]; readonly variables: Record<string, string> } {
    if (!FileFaults.isPossible) return { preload: [], variables: {} };
    const commands = this.#fault === null ? [] : COMMANDS[this.#fault];
    return { preload: SHIMS, variables: { FIU_CTRL_FIFO: this.#pipes, FIU_ENABLE: commands.join("\n") } };
  }

  async begin(fault: WriteFault, program: Program | null): Promise<void> {
    this.#fault = fault;
    await this.#control(program, [...END, ...COMMANDS[fault]]);
  }

  async end(program: Program | null): Promise<void> {
    this.#fault = null;
    await this.#control(program, END);
  }

  /** Sends commands to a program. Waits while it is starting or frozen, and returns if it ends. */
  async #control(program: Program | null, commands: readonly string[]): Promise<void> {
    const { pid, exitCode, signalCode } = program?.process ?? {};
    if (program === null || pid === undefined || exitCode !== null || signalCode !== null) return;
    const hasEnded = program.ended().then(() => true);
    while (!existsSync(`${this.#pipes}-${pid}.out`)) if (await Promise.race([hasEnded, wait(10)])) return;
    const options = commands.flatMap((command) => ["-c", command]);
    // The script runs in its own process group, because a child of the script waits forever if the pipe has no reader.
    const control = spawn("fiu-ctrl", ["-f", this.#pipes, ...options, String(pid)], {
      detached: true,
      stdio: "ignore",
    });
    const closed = once(control, "close");
    if (await Promise.race([hasEnded, closed.then(() => false)])) process.kill(-(control.pid ?? 0), "SIGKILL");
    await closed;
  }
}

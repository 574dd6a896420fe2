import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Program } from "../support/program.ts";

/** Of Debian's `fiu-utils`: https://blitiri.com.ar/p/libfiu/ */
const SHIMS = ["/usr/lib/fiu/fiu_run_preload.so", "/usr/lib/fiu/fiu_posix_preload.so"];
const EIO = 5;

/** Calls that SQLite writes with, and no socket. Sources: its os_unix.c, and `function_list.gz` of fiu-utils. */
const WRITES = ["posix/io/rw/pwrite", "posix/io/rw/ftruncate"];
const SYNCS = ["posix/io/sync/fsync", "posix/io/sync/fdatasync"];

/** All writes fail; all syncs fail; each write and each sync fails with the same chance. */
export type WriteFault = "write" | "sync" | "some";

const COMMANDS: Readonly<Record<WriteFault, readonly string[]>> = {
  write: WRITES.map((name) => `enable name=${name},failinfo=${EIO}`),
  sync: SYNCS.map((name) => `enable name=${name},failinfo=${EIO}`),
  some: [...WRITES, ...SYNCS].map((name) => `enable_random name=${name},probability=0.2,failinfo=${EIO}`),
};
const END = [...WRITES, ...SYNCS].map((name) => `disable name=${name}`);

/** Lets the file calls of a program fail with EIO, as those of a broken disk. Its next processes too, until they are mended. */
export class FileFaults {
  static readonly isPossible = SHIMS.every((path) => existsSync(path));
  readonly #pipes: string;
  #fault: WriteFault | null = null;

  /** @param pipes what the names of its named pipes begin with. */
  constructor(pipes: string) {
    this.#pipes = pipes;
  }

  /** For the environment of a process that is started now. */
  environment(): { readonly preload: readonly string[]; readonly variables: Record<string, string> } {
    if (!FileFaults.isPossible) return { preload: [], variables: {} };
    const commands = this.#fault === null ? [] : COMMANDS[this.#fault];
    return { preload: SHIMS, variables: { FIU_CTRL_FIFO: this.#pipes, FIU_ENABLE: commands.join("\n") } };
  }

  async begin(fault: WriteFault, program: Program | null): Promise<void> {
    this.#fault = fault;
    await this.#tell(program, [...END, ...COMMANDS[fault]]);
  }

  async end(program: Program | null): Promise<void> {
    this.#fault = null;
    await this.#tell(program, END);
  }

  /** Waits for a program that is frozen or has just begun; one that ends needs nothing. */
  async #tell(program: Program | null, commands: readonly string[]): Promise<void> {
    const { pid, exitCode, signalCode } = program?.process ?? {};
    if (program === null || pid === undefined || exitCode !== null || signalCode !== null) return;
    const hasEnded = program.ended().then(() => true);
    while (!existsSync(`${this.#pipes}-${pid}.out`)) if (await Promise.race([hasEnded, wait(10)])) return;
    const options = commands.flatMap((command) => ["-c", command]);
    // With a group of its own: a part of the script waits for good when nobody reads the pipe any more.
    const control = spawn("fiu-ctrl", ["-f", this.#pipes, ...options, String(pid)], {
      detached: true,
      stdio: "ignore",
    });
    const said = once(control, "close");
    if (await Promise.race([hasEnded, said.then(() => false)])) process.kill(-(control.pid ?? 0), "SIGKILL");
    await said;
  }
}

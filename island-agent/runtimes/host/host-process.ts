import type { ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../../shared/clock.ts";
import type { JobErrorCode } from "../../../shared/errors.ts";
import { BARE, descendantOf, exitInside, type Launch, type Sandbox } from "../sandbox/sandbox.ts";
import { startLaunch } from "../sandbox/start-launch.ts";
import { CHANNEL_FD, HostChannel } from "./host-channel.ts";
import { type FromHost, readFromHost, type ToHost } from "./host-protocol.ts";

/** Maximum number of characters kept from the end of the host's error output. */
const STDERR_KEPT_CHARS = 4_096;
/** Time after the exit in which the rest of the error output may arrive. */
const STDERR_GRACE_MS = 200;

export interface HostProgram {
  /** Name in messages, such as "llama.cpp". */
  readonly name: string;
  /** Entry file, which calls `serveHost`. */
  readonly entry: URL;
  /** Complete environment of the process (`hostEnvironment`). */
  readonly environment: Readonly<Record<string, string>>;
  /** Flags for Node. */
  readonly execArgv?: readonly string[];
  readonly sandbox?: Sandbox;
  /** Files and folders that it reads inside the sandbox in addition to our code. */
  readonly readable?: readonly string[];
  /** Finds the cause of a crash in the error output; empty if the output does not name it. */
  readonly explainCrash?: (stderrTail: string) => string;
}

export interface HostEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True if the agent had requested the end. */
  readonly isRequested: boolean;
  /** Reason why the agent killed the process; null if it did not. */
  readonly killReason: string | null;
  /** Error code for the process's runs or load if the agent killed it. */
  readonly killedAs: JobErrorCode;
  /** End of the error output, where native code prints assertions. */
  readonly stderrTail: string;
}

/** Returns the URL of an entry file next to `importer`, with its extension: `.ts` in sources, `.js` in packages. */
export function hostEntry(name: string, importer: string): URL {
  return new URL(`./${name}.${importer.slice(-2)}`, importer);
}

/** A child process that runs native code. It ends on request, when killed, by a crash, or with its parent. */
export class HostProcess {
  readonly program: HostProgram;
  /** Resolves when the process has ended for any reason; never rejects. */
  readonly ended: Promise<HostEnding>;
  readonly #launch: Launch;
  /** Process of the host, or of the sandbox around it. */
  readonly #child: ChildProcess;
  #pid: number | undefined;
  readonly #channel: HostChannel;
  #listener: (message: FromHost) => void = () => {};
  #isEndRequested = false;
  #killReason: string | null = null;
  #killedAs: JobErrorCode = "runtime_crashed";

  constructor(program: HostProgram, clock: Clock) {
    this.program = program;
    const entry = fileURLToPath(program.entry);
    this.#launch = (program.sandbox ?? BARE).wrap({
      file: process.execPath,
      args: [...(program.execArgv ?? []), entry],
      environment: program.environment,
      readable: [entry, ...(program.readable ?? [])],
    });
    this.#child = startLaunch(this.#launch);
    this.#channel = new HostChannel(this.#child.stdio[CHANNEL_FD] as Duplex, {
      onMessage: (message) => this.#receive(message),
      onBroken: (why) => this.killAsBroken(why),
    });
    this.ended = this.#watchEnd(clock);
  }

  /** Process id of the host; undefined if it could not be started, and in a sandbox until it has started. */
  get pid(): number | undefined {
    const { pid } = this.#child;
    if (pid !== undefined) this.#pid ??= descendantOf(pid, this.#launch.depth);
    return this.#pid;
  }

  /** Sets the listener, replacing the previous one. */
  listen(listener: (message: FromHost) => void): void {
    this.#listener = listener;
  }

  /**
   * Sends a message. No-op when the process has ended; `ended` reports that. Returns false, and sends nothing, when the
   * message is too long.
   */
  send(message: ToHost<unknown, unknown, unknown>): boolean {
    if (message.kind === "end") this.#isEndRequested = true;
    return this.#channel.send(message);
  }

  /** Kills the process and the sandbox around it immediately. @param as error code for its runs. */
  kill(reason: string, as: JobErrorCode = "runtime_crashed"): void {
    if (this.#killReason === null) {
      this.#killReason = reason;
      this.#killedAs = as;
    }
    this.#killNow();
  }

  /** Kills a process that sent an invalid message, and ignores its later messages. */
  killAsBroken(why: string): void {
    this.#listener = () => {};
    this.kill(`it broke the protocol (${why})`);
  }

  #killNow(): void {
    const child = this.#child;
    const { depth } = this.#launch;
    // Kill the host first. The sandbox around it then exits on its own.
    const hostPid = child.pid === undefined || depth === 0 ? undefined : descendantOf(child.pid, depth);
    if (hostPid === undefined) child.kill("SIGKILL");
    else killIfThere(hostPid);
  }

  #receive(message: unknown): void {
    const read = readFromHost(message);
    if (read === null) this.killAsBroken("it sent an unknown message");
    else this.#listener(read);
  }

  #watchEnd(clock: Clock): Promise<HostEnding> {
    const child = this.#child;
    let stderrTail = "";
    child.stderr?.setEncoding("utf8");
    child.stderr?.on("data", (text: string) => {
      stderrTail = (stderrTail + text).slice(-STDERR_KEPT_CHARS);
    });
    return new Promise((resolve) => {
      const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
        const exit = this.#launch.depth === 0 ? { code, signal } : exitInside({ code, signal }, stderrTail);
        const isRequested = this.#isEndRequested;
        resolve({ ...exit, isRequested, killReason: this.#killReason, killedAs: this.#killedAs, stderrTail });
      };
      child.on("error", (error) => {
        stderrTail = error.message;
        if (child.pid === undefined) settle(null, null);
      });
      child.on("exit", (code, signal) => {
        child.stdin?.destroy();
        const timer = clock.schedule(STDERR_GRACE_MS, () => settle(code, signal));
        child.on("close", () => {
          timer.cancel();
          settle(code, signal);
        });
      });
    });
  }
}

/** Kills a process that may have ended. */
export function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has just ended.
  }
}

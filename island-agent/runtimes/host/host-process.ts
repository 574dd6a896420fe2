import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../../shared/clock.ts";
import type { JobErrorCode } from "../../../shared/errors.ts";
import { type FromHost, readFromHost } from "./from-host.ts";
import { CHANNEL_FD, HostChannel } from "./host-channel.ts";
import type { AnyToHost } from "./host-messages.ts";

/** Most of the host's error output that is kept, its end. */
const STDERR_KEPT = 4_096;
/** How long after its exit the rest of its error output is waited for. */
const STDERR_GRACE_MS = 200;

/** The program that a host process runs. */
export interface HostProgram {
  /** For messages: "llama.cpp". */
  readonly name: string;
  /** Entry file, which calls `serveHost`. */
  readonly entry: URL;
  /** Its whole environment (`hostEnvironment`). */
  readonly environment: Readonly<Record<string, string>>;
  /** Node's own flags. */
  readonly execArgv?: readonly string[];
  /** What its error output says of a crash, in a few words; empty when nothing. */
  readonly explainCrash?: (stderrTail: string) => string;
}

/** How a host process ended. */
export interface HostEnding {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why we killed it; null when we did not. */
  readonly killedBecause: string | null;
  /** What its runs, or its load, fail with where we killed it. */
  readonly killedAs: JobErrorCode;
  /** The end of what it wrote to stderr: assertions of native code. */
  readonly stderrTail: string;
}

/** Address of an entry file beside `importer`, with its extension: `.ts` from the sources, `.js` from the package. */
export function hostEntry(name: string, importer: string): URL {
  return new URL(`./${name}.${importer.slice(-2)}`, importer);
}

/** One child process that runs native code. It ends when told to, when killed, by a crash, or with its parent. */
export class HostProcess {
  readonly program: HostProgram;
  /** Resolves when the process is gone, for whatever reason; never rejects. */
  readonly ended: Promise<HostEnding>;
  readonly #child: ChildProcess;
  readonly #channel: HostChannel;
  #listener: (message: FromHost) => void = () => {};
  #killedBecause: string | null = null;
  #killedAs: JobErrorCode = "runtime_crashed";

  constructor(program: HostProgram, clock: Clock) {
    this.program = program;
    this.#child = spawn(process.execPath, [...(program.execArgv ?? []), fileURLToPath(program.entry)], {
      env: program.environment,
      // stdin is never written: its end tells the host that we are gone (parent-watch.ts).
      stdio: ["pipe", "ignore", "pipe", "pipe"],
    });
    this.#child.stdin?.on("error", ignoreBrokenPipe);
    this.#channel = new HostChannel(this.#child.stdio[CHANNEL_FD] as Duplex, {
      onMessage: (message) => this.#receive(message),
      onBroken: (why) => this.killAsBroken(why),
    });
    this.ended = this.#watchEnd(clock);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Replaces the one listener. */
  listen(listener: (message: FromHost) => void): void {
    this.#listener = listener;
  }

  /** Sends, or does nothing when the process is gone: `ended` tells that. */
  send(message: AnyToHost): void {
    if (!this.#channel.send(message)) this.kill("an order to it was too long");
  }

  /** Kills the process at once. `as`: what its runs fail with. */
  kill(because: string, as: JobErrorCode = "runtime_crashed"): void {
    if (this.#killedBecause === null) {
      this.#killedBecause = because;
      this.#killedAs = as;
    }
    this.#child.kill("SIGKILL");
  }

  /** Kills a process whose messages make no sense; nothing more of it is heard. */
  killAsBroken(why: string): void {
    this.#listener = () => {};
    this.kill(`it broke the protocol: ${why}`);
  }

  #receive(message: unknown): void {
    const read = readFromHost(message);
    if (read === null) this.killAsBroken("a message was not of a kind that hosts send");
    else this.#listener(read);
  }

  #watchEnd(clock: Clock): Promise<HostEnding> {
    const child = this.#child;
    let stderrTail = "";
    child.stderr?.setEncoding("utf8");
    child.stderr?.on("data", (text: string) => {
      stderrTail = (stderrTail + text).slice(-STDERR_KEPT);
    });
    return new Promise((resolve) => {
      const settle = (code: number | null, signal: NodeJS.Signals | null): void =>
        resolve({ code, signal, killedBecause: this.#killedBecause, killedAs: this.#killedAs, stderrTail });
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

/** A write to a process that has just ended fails; its end is reported by `ended`. */
function ignoreBrokenPipe(): void {}

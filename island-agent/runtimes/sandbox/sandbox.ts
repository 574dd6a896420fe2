import { readFileSync } from "node:fs";
import { constants } from "node:os";

/** Kind of sandbox of native host processes; `none`: all rights of the agent's user. */
export type SandboxKind = "bubblewrap" | "unshare" | "sandbox-exec" | "job object" | "none";

/** Command of a host process without a sandbox. */
export interface HostCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute paths that it reads besides our code: its entry file and its model. Missing paths are skipped. */
  readonly readable: readonly string[];
  /** Folders that it also writes. Default: none. */
  readonly writable?: readonly string[];
}

/** Command of a host process in its sandbox. */
export interface Launch extends Omit<HostCommand, "readable" | "writable"> {
  /** Contents of the descriptors after the channel's, in this order. */
  readonly inputs: readonly Buffer[];
  /** Processes between the started process and the host: 0 when they are the same. */
  readonly depth: number;
  readonly onStarted?: (pid: number) => void;
}

/** Turns a host's command into one with fewer rights. */
export interface Sandbox {
  readonly kind: SandboxKind;
  wrap(command: HostCommand): Launch;
}

/** Rights that not all programs need. */
export interface SandboxNeeds {
  readonly gpu: boolean;
  /** Whether it may start processes; if false, only threads. */
  readonly mayFork: boolean;
  /** Whether it listens at a TCP port of this machine, which takes the whole network. Default: no network. */
  readonly network?: boolean;
}

/** No sandbox: starts the command unchanged. */
export const BARE: Sandbox = {
  kind: "none",
  wrap: ({ file, args, environment }) => ({ file, args, environment, inputs: [], depth: 0 }),
};

/** Base of the exit codes of shells and bubblewrap for a child killed by a signal. Source: POSIX sh, "Exit Status". */
const SIGNAL_BASE = 128;
/** If a number has two names, the first is the usual one: SIGABRT, not SIGIOT. */
const SIGNALS = Object.entries(constants.signals);

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Returns the exit of the host, derived from the exit of the process around it. Both members are null if the sandbox
 * could not be created.
 */
export function exitInside({ code, signal }: Exit, stderrTail: string): Exit {
  if (code === 1 && /^bwrap: /m.test(stderrTail)) return { code: null, signal: null };
  const inner = SIGNALS.find(([, number]) => number + SIGNAL_BASE === code);
  return inner === undefined ? { code, signal } : { code: null, signal: inner[0] as NodeJS.Signals };
}

/** Returns the process `depth` generations below `pid`, each an only child; undefined if it does not run. */
export function descendantOf(pid: number, depth: number): number | undefined {
  let found: number | undefined = pid;
  for (let level = 0; level < depth && found !== undefined; level += 1) found = onlyChildOf(found);
  return found;
}

function onlyChildOf(pid: number): number | undefined {
  try {
    const [child = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
    return child === "" ? undefined : Number(child);
  } catch {
    return undefined;
  }
}

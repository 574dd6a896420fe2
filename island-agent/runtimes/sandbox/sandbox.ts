import { readFileSync } from "node:fs";
import { constants } from "node:os";

/** What native host processes run in; `none`: with all rights of the agent's user. */
export type SandboxKind = "bubblewrap" | "unshare" | "sandbox-exec" | "job object" | "none";

/** A host process, as it would be started without a sandbox. */
export interface HostCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute paths that it reads besides our code: its entry file and its model. One that does not exist is left out. */
  readonly readable: readonly string[];
}

/** How to start it. */
export interface Launch extends Omit<HostCommand, "readable"> {
  /** What the descriptors after the channel's read, in this order. */
  readonly inputs: readonly Buffer[];
  /** Processes between the one that is started and the host: 0 when they are the same. */
  readonly depth: number;
  /** To be called with the id of the process. */
  readonly onStarted?: (pid: number) => void;
}

/** Turns a host's command into one that has fewer rights. */
export interface Sandbox {
  readonly kind: SandboxKind;
  wrap(command: HostCommand): Launch;
}

/** What a program needs that not every program is given. */
export interface SandboxNeeds {
  readonly gpu: boolean;
  /** False: threads only. */
  readonly mayFork: boolean;
}

/** Starts the command as it is. */
export const BARE: Sandbox = {
  kind: "none",
  wrap: ({ file, args, environment }) => ({ file, args, environment, inputs: [], depth: 0 }),
};

/** How a shell and bubblewrap report that their child died of a signal: 128 and its number. Source: POSIX sh, "Exit Status". */
const SIGNAL_BASE = 128;
/** Of two names for a number, the first is the usual one: SIGABRT, not SIGIOT. */
const SIGNALS = Object.entries(constants.signals);

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How the host inside ended, from the end of the process around it. Both null: the sandbox could not be made. */
export function exitInside({ code, signal }: Exit, stderrTail: string): Exit {
  if (code === 1 && /^bwrap: /m.test(stderrTail)) return { code: null, signal: null };
  const inner = SIGNALS.find(([, number]) => number + SIGNAL_BASE === code);
  return inner === undefined ? { code, signal } : { code: null, signal: inner[0] as NodeJS.Signals };
}

/** Id of the process `depth` generations below `pid`, each an only child; undefined when it has not started or has ended. */
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

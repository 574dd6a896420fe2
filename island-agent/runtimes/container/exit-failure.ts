import { constants } from "node:os";
import { JobFailure } from "../../../shared/errors.ts";

/** How a container ended, as its engine tells. */
export interface ContainerExit {
  readonly code: number;
  /** A process in it was killed for want of memory, not always the one that the container ends with. */
  readonly isOutOfMemory: boolean;
}

const MIB = 1_048_576;
/** Shells and engines say so: 128 and the signal's number. */
const SIGNAL_BASE = 128;
const SIGNAL_WORDS: Readonly<Record<string, string>> = {
  SIGKILL: "was killed",
  SIGTERM: "was told to end",
  SIGSEGV: "crashed: it used memory that is not its own",
  SIGABRT: "gave itself up",
  SIGBUS: "crashed: it used memory that is not there",
  SIGFPE: "crashed in arithmetic",
  SIGILL: "used an instruction that this Island's processor does not have",
  SIGSYS: "made a system call that is forbidden",
};
const CODE_WORDS: Readonly<Record<number, string>> = {
  125: "the engine could not run it",
  126: "a command in it may not be executed",
  127: "a command in it was not found",
};

/**
 * Why a job failed whose program ended without a last word. Only `cargo_failed` quotes the program, by what it wrote last on
 * standard error. What a signal ended may succeed elsewhere; an exit code of the program's own will not.
 */
export function failureOfExit(exit: ContainerExit, memoryBytes: number, stderrTail: string): JobFailure {
  if (exit.isOutOfMemory) {
    const text = `The Cargo's program took more than its ${Math.round(memoryBytes / MIB)} MB of memory and was killed`;
    return new JobFailure("out_of_memory", text);
  }
  const signal = signalOf(exit.code);
  const words = `The Cargo's program ${signal === null ? describeCode(exit.code) : describeSignal(signal, exit.code)}`;
  const tail = stderrTail === "" ? "" : `; its standard error ends with:\n${stderrTail}`;
  return new JobFailure("cargo_failed", `${words}${tail}`, { retryable: signal !== null });
}

function describeCode(code: number): string {
  if (code === 0) return "ended without a `done` line";
  const words = CODE_WORDS[code];
  return `ended with exit code ${code}${words === undefined ? "" : ` (${words})`}`;
}

function describeSignal(signal: string, code: number): string {
  return `${SIGNAL_WORDS[signal] ?? "was ended"} (${signal}, exit code ${code})`;
}

function signalOf(code: number): string | null {
  if (code <= SIGNAL_BASE) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === code - SIGNAL_BASE);
  return found?.[0] ?? null;
}

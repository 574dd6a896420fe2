import { constants } from "node:os";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";

export interface ContainerExit {
  readonly code: number;
  /** Whether a process of the container, not necessarily the main one, was killed because memory ran out. */
  readonly isOutOfMemory: boolean;
}

/** Base of the exit codes of shells and engines for a signal; the signal's number is added. */
const SIGNAL_BASE = 128;
const SIGNAL_MEANINGS: Readonly<Record<string, string>> = {
  SIGKILL: "was killed",
  SIGTERM: "was terminated",
  SIGSEGV: "crashed: invalid memory access",
  SIGABRT: "aborted",
  SIGBUS: "crashed: bus error",
  SIGFPE: "crashed: arithmetic error",
  SIGILL: "used an instruction that this Island's processor does not have",
  SIGSYS: "made a forbidden system call",
};
const CODE_MEANINGS: Readonly<Record<number, string>> = {
  125: "the engine could not run it",
  126: "a command in it is not executable",
  127: "a command in it was not found",
};

/**
 * Returns the failure of a job whose program ended without a `done` or `error` line. Only `cargo_failed` quotes the
 * program: the end of its standard error. The failure is retryable after a signal, since the job may succeed elsewhere,
 * but not after the program's own exit code.
 */
export function failureOfExit(exit: ContainerExit, memoryBytes: number, stderrTail: string): JobFailure {
  if (exit.isOutOfMemory) {
    const text = `The Cargo's program exceeded its memory limit of ${Math.round(memoryBytes / MIB)} MiB and was killed`;
    return new JobFailure("out_of_memory", text);
  }
  const signal = signalOf(exit.code);
  const words = `The Cargo's program ${signal === null ? describeCode(exit.code) : describeSignal(signal, exit.code)}`;
  const tail = stderrTail === "" ? "" : `; its standard error ends with:\n${stderrTail}`;
  return new JobFailure("cargo_failed", `${words}${tail}`, { retryable: signal !== null });
}

function describeCode(code: number): string {
  if (code === 0) return "ended without a `done` line";
  const words = CODE_MEANINGS[code];
  return `ended with exit code ${code}${words === undefined ? "" : ` (${words})`}`;
}

function describeSignal(signal: string, code: number): string {
  return `${SIGNAL_MEANINGS[signal] ?? "was ended"} (${signal}, exit code ${code})`;
}

function signalOf(code: number): string | null {
  if (code <= SIGNAL_BASE) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === code - SIGNAL_BASE);
  return found?.[0] ?? null;
}

import { JobFailure } from "../../../shared/errors.ts";
import type { HostEnding, HostProgram } from "./host-process.ts";

/** Signals that native code dies of on its own: an assertion, or memory that is not there. */
const FAULTS: ReadonlySet<NodeJS.Signals> = new Set(["SIGABRT", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"]);

/** Why a run ended with its host process. Another Island, or a new process here, may succeed. */
export function runFailureOf(program: HostProgram, ending: HostEnding): JobFailure {
  return new JobFailure("runtime_crashed", describeEnding(program, ending), { retryable: true });
}

/** Why a load ended with its host process: we killed it as it hung, or a fault of the file's, which it would be everywhere. */
export function loadFailureOf(program: HostProgram, ending: HostEnding): JobFailure {
  if (ending.killedBecause !== null) {
    return new JobFailure("runtime_unavailable", describeEnding(program, ending), { retryable: true });
  }
  const message = `${describeEnding(program, ending)} while loading the model`;
  if (ending.signal === "SIGKILL") return new JobFailure("out_of_memory", message, { retryable: true });
  if (ending.signal !== null && FAULTS.has(ending.signal)) return new JobFailure("model_invalid", message);
  return new JobFailure("runtime_crashed", message, { retryable: true });
}

function describeEnding({ name, explainCrash }: HostProgram, ending: HostEnding): string {
  const { code, signal, killedBecause, stderrTail } = ending;
  if (killedBecause !== null) return `${name} process was killed: ${killedBecause}`;
  if (signal === "SIGKILL") return `${name} process was killed (SIGKILL): out of memory?`;
  if (signal !== null) return `${name} process crashed (${signal})${reasonIn(stderrTail, explainCrash)}`;
  if (code !== null) return `${name} process ended with code ${code}${reasonIn(stderrTail, explainCrash)}`;
  return `${name} process could not be started: ${stderrTail}`;
}

function reasonIn(stderrTail: string, explain: HostProgram["explainCrash"]): string {
  const reason = explain?.(stderrTail) ?? "";
  return reason === "" ? "" : `: ${reason}`;
}

import { type JobErrorCode, JobFailure } from "../../../shared/errors.ts";
import type { HostEnding, HostProgram } from "./host-process.ts";

/**
 * Messages of V8, C++ and the libraries when memory runs out. A failed assertion about a buffer also means that memory
 * ran out.
 */
const NO_MEMORY =
  /heap out of memory|out of memory|bad_alloc|failed to allocate|cannot allocate memory|insufficient memory|GGML_ASSERT\([\w>-]*buffer\b/i;

/** Returns the failure of a run whose process ended. It is retryable, here in a new process or on another Island. */
export function runFailureOf(program: HostProgram, ending: HostEnding): JobFailure {
  return new JobFailure(codeOf(ending), describeEnding(program, ending), { retryable: true });
}

/**
 * Returns the failure of a load whose host process ended. Only an assertion that the program can explain counts as a
 * fault of the file, which then fails on every Island. A signal without an assertion may be a fault of this machine.
 */
export function loadFailureOf(program: HostProgram, ending: HostEnding): JobFailure {
  if (ending.killReason !== null) return runFailureOf(program, ending);
  const message = `${describeEnding(program, ending)} while loading the model`;
  const code = ending.signal === "SIGKILL" ? "out_of_memory" : codeOf(ending);
  const isExplained = code === "runtime_crashed" && reasonIn(ending.stderrTail, program.explainCrash) !== "";
  if (isExplained) return new JobFailure("model_invalid", message);
  return new JobFailure(code, message, { retryable: true });
}

/**
 * Returns whether the process ended because the agent unloaded its model. Hosts kill themselves, because native code
 * may not end cleanly.
 */
export function isCleanEnd({ isRequested, killReason }: HostEnding): boolean {
  return isRequested && killReason === null;
}

/** Returns the log fields that explain an unexpected end. */
export function factsOf(ending: HostEnding): Partial<HostEnding> {
  if (isCleanEnd(ending)) return {};
  const { code, signal, killReason, killedAs, stderrTail } = ending;
  return { code, signal, ...(killReason === null ? {} : { killReason, killedAs }), stderrTail };
}

function codeOf({ killReason, killedAs, stderrTail }: HostEnding): JobErrorCode {
  if (killReason !== null) return killedAs;
  return NO_MEMORY.test(stderrTail) ? "out_of_memory" : "runtime_crashed";
}

function describeEnding({ name, explainCrash }: HostProgram, ending: HostEnding): string {
  const { code, signal, killReason, stderrTail } = ending;
  if (killReason !== null) return `The ${name} process was killed: ${killReason}`;
  if (signal === "SIGKILL") return `The ${name} process was killed (SIGKILL), probably because memory ran out`;
  if (signal !== null) return `The ${name} process crashed (${signal})${reasonIn(stderrTail, explainCrash)}`;
  if (code !== null) return `The ${name} process ended with code ${code}${reasonIn(stderrTail, explainCrash)}`;
  return `The ${name} process could not be started: ${stderrTail}`;
}

function reasonIn(stderrTail: string, explain: HostProgram["explainCrash"]): string {
  const reason = explain?.(stderrTail) ?? "";
  return reason === "" ? "" : `: ${reason}`;
}

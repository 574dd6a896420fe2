import { JobFailure } from "../../../shared/errors.ts";
import type { HostEnding } from "./host-process.ts";

/** Signals that llama.cpp dies of on its own: an assertion, or memory that is not there. */
const FAULTS: ReadonlySet<NodeJS.Signals> = new Set(["SIGABRT", "SIGSEGV", "SIGBUS", "SIGFPE"]);

/** Why a run ended with its host process. Another Island, or a new process here, may succeed. */
export function runFailureOf(ending: HostEnding): JobFailure {
  return new JobFailure("runtime_crashed", describeEnding(ending), { retryable: true });
}

/** Why a load ended with its host process. A fault while reading a file is the file's: it would fault everywhere. */
export function loadFailureOf(ending: HostEnding): JobFailure {
  const message = `${describeEnding(ending)} while loading the model`;
  if (ending.signal === "SIGKILL") return new JobFailure("out_of_memory", message, { retryable: true });
  if (ending.signal !== null && FAULTS.has(ending.signal)) return new JobFailure("model_invalid", message);
  return new JobFailure("runtime_crashed", message, { retryable: true });
}

function describeEnding({ code, signal, killedBecause, stderrTail }: HostEnding): string {
  if (killedBecause !== null) return `llama.cpp process was killed: ${killedBecause}`;
  if (signal === "SIGKILL") return "llama.cpp process was killed (SIGKILL): out of memory?";
  if (signal !== null) return `llama.cpp process crashed (${signal})${assertionIn(stderrTail)}`;
  if (code !== null) return `llama.cpp process ended with code ${code}`;
  return `llama.cpp process could not be started: ${stderrTail}`;
}

/** The assertion that llama.cpp printed, without the path of its source file. */
function assertionIn(stderr: string): string {
  const assertion = /GGML_ASSERT\(.*\) failed/.exec(stderr)?.[0];
  return assertion === undefined ? "" : `: ${assertion}`;
}

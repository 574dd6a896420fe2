import type { ProbeResult } from "./runtime.ts";

/** The answer of a probe that failed. Final when a package is not installed: that takes a new start of the agent. */
export function probeFailure(cause: unknown): ProbeResult {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
  return { usable: false, reason, ...(isMissing ? { isFinal: true } : {}) };
}

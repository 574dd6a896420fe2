import type { ProbeResult } from "./runtime.ts";

/** Returns the result of a failed probe. A missing package is a final failure, because adding it requires a restart. */
export function probeFailure(cause: unknown): ProbeResult {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
  return { usable: false, reason, ...(isMissing ? { isFinal: true } : {}) };
}

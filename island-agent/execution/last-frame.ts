import { JobFailure } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { codeMembers } from "../../shared/protocol/from-island.ts";
import type { LastFrame } from "../session/attempt-log.ts";

/** The coordinator wants no more of the run. */
export class StopRequested extends Error {
  override readonly name = "StopRequested";
}

/** The last frame of a run that ended with `error`. Logs errors that are bugs of the agent. */
export function lastFrameOf(
  error: unknown,
  { jobId, attempt }: Pick<Assign, "jobId" | "attempt">,
  log: Pick<Logger, "warn">,
): LastFrame {
  if (error instanceof StopRequested) return { type: "cancelled" };
  if (error instanceof JobFailure) {
    const { code, message, retryable } = error;
    return { type: "failed", ...codeMembers(code), message, retryable };
  }
  log.warn({ job_id: jobId, attempt, ...placeOf(error) }, "Internal error of the agent");
  return { type: "failed", code: "internal", message: "The Island's agent failed", retryable: true };
}

/** Where an unexpected error came from. Without its message, which may quote a prompt. */
function placeOf(error: unknown): { fault: string; at: string[] } {
  if (!(error instanceof Error)) return { fault: typeof error, at: [] };
  const lines = (error.stack ?? "").split("\n").map((line) => line.trim());
  return { fault: error.name, at: lines.filter((line) => line.startsWith("at ")).slice(0, 5) };
}

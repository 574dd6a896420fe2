import { ServiceError, type ErrorCode } from "../../../../shared/errors.ts";
import { InsufficientCreditsError, KeyCreditsError } from "../../../credits/credit-errors.ts";
import { findStorageFault } from "./storage-fault.ts";
import { IllegalTransitionError, type JobEvent, type JobState } from "../../../../shared/job-state.ts";

/** An error in the form that a worker sends, because the structured clone loses classes. */
export type Failure =
  | { readonly kind: "service"; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: "credits"; readonly requiredMicro: bigint; readonly balanceMicro: bigint }
  | ({ readonly kind: "key_credits" } & Pick<KeyCreditsError, "requiredMicro" | "leftMicro" | "renewsAtMs">)
  | { readonly kind: "transition"; readonly from: JobState; readonly event: JobEvent }
  /** An invalid argument, which is a bug of the caller. */
  | { readonly kind: "range"; readonly message: string }
  /** The database is not writable; the operation can be retried. */
  | { readonly kind: "storage"; readonly reason: string }
  | { readonly kind: "fault"; readonly message: string };

/** Returns whether the error is a refusal, which an operation throws before it writes anything. */
export function isExpected(error: unknown): error is ServiceError | IllegalTransitionError {
  return error instanceof ServiceError || error instanceof IllegalTransitionError;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof InsufficientCreditsError) {
    return { kind: "credits", requiredMicro: error.requiredMicro, balanceMicro: error.balanceMicro };
  }
  if (error instanceof KeyCreditsError) {
    const { requiredMicro, leftMicro, renewsAtMs } = error;
    return { kind: "key_credits", requiredMicro, leftMicro, renewsAtMs };
  }
  if (error instanceof ServiceError) return { kind: "service", code: error.code, message: error.message };
  if (error instanceof IllegalTransitionError) return { kind: "transition", from: error.from, event: error.event };
  if (error instanceof RangeError) return { kind: "range", message: error.message };
  const reason = findStorageFault(error);
  if (reason !== null) return { kind: "storage", reason };
  return { kind: "fault", message: error instanceof Error ? error.message : String(error) };
}

/** Restores the error that a worker sent. */
export function toError(failure: Failure): Error {
  switch (failure.kind) {
    case "service":
      return new ServiceError(failure.code, failure.message);
    case "credits":
      return new InsufficientCreditsError(failure.requiredMicro, failure.balanceMicro);
    case "key_credits":
      return new KeyCreditsError(failure.requiredMicro, failure.leftMicro, failure.renewsAtMs);
    case "transition":
      return new IllegalTransitionError(failure.from, failure.event);
    case "range":
      return new RangeError(failure.message);
    case "storage":
      return new ServiceError("storage_unavailable", `Storage is unavailable: ${failure.reason}`);
    case "fault":
      return new Error(`Storage failed: ${failure.message}`);
    default:
      throw new Error(`Unknown failure ${String(failure satisfies never)}`);
  }
}

import { JobFailure } from "../../shared/errors.ts";

/** A download does not fit the disk budget, even after everything that may be deleted for it. */
export class DiskBudgetExceededError extends JobFailure {
  constructor(message: string) {
    super("model_unavailable", message, { retryable: true });
  }
}

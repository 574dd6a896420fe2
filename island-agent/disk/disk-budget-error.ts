import { JobFailure } from "../../shared/errors.ts";

/** A download does not fit the disk budget beside what may not be deleted for it. */
export class DiskBudgetExceededError extends JobFailure {
  constructor(message: string) {
    super("model_unavailable", message, { retryable: true });
  }
}

import { JobFailure } from "../../shared/errors.ts";

/**
 * A download does not fit the disk budget or the free space, even after everything that may be deleted for it; or the disk became full
 * while it was written. Retryable, because another Island, or this one later, may have space.
 */
export class DiskFullError extends JobFailure {
  constructor(message: string, cause?: unknown) {
    super("disk_full", message, { retryable: true, cause });
  }
}

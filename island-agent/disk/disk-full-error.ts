import { JobFailure } from "../../shared/errors.ts";

/**
 * Thrown when a download does not fit the disk budget or the free space, even after all permitted deletions, or when
 * the disk became full during the write. The error is retryable, because another Island, or this one later, may have
 * space.
 */
export class DiskFullError extends JobFailure {
  constructor(message: string, cause?: unknown) {
    super("disk_full", message, { retryable: true, cause });
  }
}

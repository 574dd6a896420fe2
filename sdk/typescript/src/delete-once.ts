import { NotFoundError } from "./errors.ts";

/** Waits for a deletion. A 404 after a try without an answer counts as success: that try deleted the thing. */
export async function deleteOnce(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof NotFoundError && error.isRepeat)) throw error;
  }
}

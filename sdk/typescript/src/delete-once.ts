import { NotFoundError } from "./errors.ts";

/** Waits for a deletion. A 404 after an attempt without a response counts as success, because that attempt deleted the object. */
export async function deleteOnce(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof NotFoundError && error.isRepeat)) throw error;
  }
}

import { NotFoundError } from "./errors.ts";

/** Waits for a removal. When an earlier try of it got no answer, a thing that is not there any more was removed by that one. */
export async function doneBefore(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!(error instanceof NotFoundError && error.isRepeat)) throw error;
  }
}

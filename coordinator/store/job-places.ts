/**
 * Places of unfinished jobs under the limits of their accounts, in a store that several coordinators share. A job of its own takes its
 * place as it is stored (`NewJob.maxJobs`), and so do the jobs of a batch for which there is room (`NewBatch.placeLimit`). Every job gives
 * it back as its end is stored, whichever coordinator has it by then.
 */
export interface JobPlaces {
  /**
   * Gives places to jobs of this coordinator that wait for one: to the first of them for which the account's limit leaves room. Resolves
   * with those that have one, now or before.
   * @param jobIds of one account, at most {@link MAX_ASKED_PLACES}.
   * @param limit most unfinished jobs of the account.
   */
  take(accountId: string, jobIds: readonly string[], limit: number): Promise<readonly string[]>;
}

export const MAX_ASKED_PLACES = 1_000;

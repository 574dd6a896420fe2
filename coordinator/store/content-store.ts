/** Whose prompts and answers are removed for good. `output`: of a job, begun by a step of {@link ContentStore.remove} that had to stop. */
export interface RemovalSubject {
  readonly kind: "job" | "output" | "conversation" | "account";
  readonly id: string;
}

/** `input`: what the client sent. `output`: all that the job produced, with the events of its stream. */
export const CONTENT_PARTS = ["input", "output"] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

/** Rows cost more than their content: each rewrites a page. */
export const MIN_ROW_BYTES = 4_096;

/** In place of the message of a job whose output was removed. */
export const REMOVED_MESSAGE = "The message was removed with the job's output";

/**
 * Removal of what jobs were asked and what they answered. Facts stay: status, usage, charge and the ledger. Every write is one bounded
 * step, so that other writes wait for no more than that. Unfinished jobs are never touched.
 */
export interface ContentStore {
  /** False for a database that keeps unused space until it is rewritten offline. */
  readonly canReclaim: boolean;
  /** Whether this coordinator sweeps now; where several share the store, one of them in each period. */
  takeSweep(everyMs: number): Promise<boolean>;
  /** Notes a removal, which is then under way until {@link finish} succeeds, also after a crash. */
  begin(subject: RemovalSubject, atMs: number): Promise<void>;
  /** Removals under way, oldest first. */
  underWay(): Promise<RemovalSubject[]>;
  /** Ids of the subject's ended jobs, sorted, after `afterId` (empty: from the first); at most `limit`. */
  jobsOf(subject: RemovalSubject, afterId: string, limit: number): Promise<string[]>;
  /** Ids of jobs that ended at or before `endedByMs` and still have the part, in the order of their ends; at most `limit`. */
  expired(part: ContentPart, endedByMs: number, limit: number): Promise<string[]>;
  /**
   * Removes parts of ended jobs, in order, until it has removed about 4 MB. Resolves with how many of them are done, from the first on.
   * The next one may be half done: nobody can read it any more, and a removal of its output is under way until it is done.
   * `withMessages`: also the question and answer that a job left in a conversation.
   */
  remove(
    jobIds: readonly string[],
    removal: { readonly parts: readonly ContentPart[]; readonly withMessages: boolean; readonly atMs: number },
  ): Promise<number>;
  /** Removes some of what a deleted account has beside its jobs: conversations, webhooks, Islands. True when nothing is left. */
  removeOfAccount(accountId: string): Promise<boolean>;
  /**
   * Ends a removal. For an account the credits that are left go back to the network. False while the subject has unfinished jobs; the
   * removal is then still under way.
   */
  finish(subject: RemovalSubject, atMs: number): Promise<boolean>;
  /** Removes delivered and failed webhooks, with their logs, whose job or batch ended by then; at most `limit`. Resolves with their number. */
  removeWebhooks(endedByMs: number, limit: number): Promise<number>;
  /** Gives some unused space back to the file system. False when there is no more to give, or the database was made without it. */
  reclaim(): Promise<boolean>;
  /** Empties the write-ahead log, which has copies of what was removed. False if a reader is in the way; try again later. */
  truncateLog(): Promise<boolean>;
}

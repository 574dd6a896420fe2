import type { Feed, FeedEnding } from "../jobs/feed.ts";
import { untilFeed } from "../jobs/until-feed.ts";
import type { AnswerEnding } from "../store/conversations.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { UsedKey } from "../store/accounts/key-spending.ts";

/** The job that generates an answer, and its feed. */
export interface AnswerJob {
  readonly id: string;
  readonly slug: string;
  /** Input of a chat job: `messages` and the sampling fields. */
  readonly input: JobInput;
  /** API key that asked the question. Its limits apply to a retry. Absent after a restart. */
  readonly apiKey?: UsedKey | null | undefined;
  readonly feed: Feed;
}

/** An answer in progress, as its readers see it. Only `answerTracker` changes it. */
export type AnswerView = Readonly<
  Pick<ActiveAnswer, "accountId" | "conversationId" | "answerId" | "job" | "begun" | "stored">
>;

/** The state behind an {@link AnswerView}. */
export class ActiveAnswer {
  readonly accountId: string;
  readonly conversationId: string;
  readonly answerId: string;
  #job: AnswerJob;
  #attempts = 1;
  /** Whether the client has disconnected, after which no job replaces the current one. */
  isAbandoned = false;
  /** Whether the answer is complete and is being stored. */
  isEnding = false;
  readonly #begun = Promise.withResolvers<void>();
  readonly #stored = Promise.withResolvers<void>();

  constructor(ids: Pick<ActiveAnswer, "accountId" | "conversationId" | "answerId">, job: AnswerJob) {
    this.accountId = ids.accountId;
    this.conversationId = ids.conversationId;
    this.answerId = ids.answerId;
    this.#job = job;
  }

  /** The current job. Another job replaces it if the model found the history too long. */
  get job(): AnswerJob {
    return this.#job;
  }

  /** Number of jobs so far, including the current one. */
  get attempts(): number {
    return this.#attempts;
  }

  /** Continues the current job with another feed, after its feed was cut. */
  reopen(feed: Feed): void {
    this.#job = { ...this.#job, feed };
  }

  replaceJob(job: AnswerJob): void {
    this.#job = job;
    this.#attempts += 1;
  }

  /** Resolves when the answer has text, so that no job replaces the current one any more, or when it is stored. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** Resolves when the answer is stored, regardless of its outcome. */
  get stored(): Promise<void> {
    return this.#stored.promise;
  }

  /** Resolves with the ending of the current job; null if its feed was cut and must be reopened. */
  async jobEnded(): Promise<FeedEnding | null> {
    const { feed } = this.#job;
    await untilFeed(feed, ({ hasOutput, isCut, ending }) => {
      if (hasOutput) this.#begun.resolve();
      return ending !== null || isCut;
    });
    return feed.ending;
  }

  markStored(): void {
    this.#begun.resolve();
    this.#stored.resolve();
  }
}

export function answerEndingOf(ending: FeedEnding): Pick<AnswerEnding, "state" | "finishReason" | "error"> {
  if (ending.type === "done") return { state: "completed", finishReason: ending.finishReason, error: null };
  const { code, message } = ending;
  const isTimeout = code === "wait_timeout" || code === "run_timeout";
  const state = code === "cancelled" ? code : isTimeout ? "timeout" : "failed";
  return { state, finishReason: null, error: { code, message } };
}

import type { Feed, FeedEnding } from "../jobs/feed.ts";
import type { AnswerEnding, Message } from "../store/conversation-store.ts";
import type { JobInput } from "../store/job-store.ts";

/** The job that an answer is made by at the moment. */
export interface AnswerJob {
  readonly id: string;
  readonly slug: string;
  /** `messages` beside the sampling fields. */
  readonly input: JobInput;
  readonly feed: Feed;
}

/** An answer in progress, as the coordinator's event loop holds it. Its only writer is the answer desk. */
export class LiveAnswer {
  readonly accountId: string;
  readonly conversationId: string;
  readonly answerId: string;
  /** Jobs that it took so far, the present one included. */
  tries = 1;
  /** Nobody waits for the answer any more: no other job takes the place of one that ends. */
  isAbandoned = false;
  /** The answer is known and about to be stored. */
  isEnding = false;
  #job: AnswerJob;
  readonly #begun = Promise.withResolvers<void>();
  readonly #stored = Promise.withResolvers<void>();

  constructor(ids: Pick<LiveAnswer, "accountId" | "conversationId" | "answerId">, job: AnswerJob) {
    this.accountId = ids.accountId;
    this.conversationId = ids.conversationId;
    this.answerId = ids.answerId;
    this.#job = job;
  }

  get job(): AnswerJob {
    return this.#job;
  }

  /** Resolves when the answer has some text, from when on no other job takes over, or is stored. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** Resolves when the answer is stored, however it ended. */
  get stored(): Promise<void> {
    return this.#stored.promise;
  }

  replaceJob(job: AnswerJob): void {
    this.#job = job;
    this.tries += 1;
  }

  /** Resolves with the ending of the present job. */
  jobEnded(): Promise<FeedEnding> {
    const { feed } = this.#job;
    return new Promise((resolve) => {
      const look = (): void => {
        if (feed.hasOutput) this.#begun.resolve();
        if (feed.ending !== null) resolve(feed.ending);
      };
      feed.subscribe(look);
      look();
    });
  }

  markStored(): void {
    this.#begun.resolve();
    this.#stored.resolve();
  }
}

/** What becomes of an answer whose job ended so. */
export function answerOf(ending: FeedEnding): Pick<AnswerEnding, "state" | "finishReason" | "error"> {
  if (ending.type === "done") return { state: "completed", finishReason: ending.finishReason, error: null };
  const { code, message } = ending;
  return { state: stateOf(code), finishReason: null, error: { code, message } };
}

function stateOf(code: Extract<FeedEnding, { type: "error" }>["code"]): Exclude<Message["state"], "in_progress"> {
  if (code === "cancelled") return "cancelled";
  return code === "wait_timeout" || code === "run_timeout" ? "timeout" : "failed";
}

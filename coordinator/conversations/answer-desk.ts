import { chatInputSchema, type ChatMessage } from "../../shared/chat-input.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { FeedEnding } from "../jobs/feed.ts";
import type { JobService, SubmitRequest } from "../jobs/job-service.ts";
import type { ConversationStore, Message } from "../store/conversation-store.ts";
import { shortenHistory } from "./fit-history.ts";
import { answerOf, LiveAnswer, type AnswerJob } from "./live-answer.ts";

export interface AnswerDeskDeps {
  readonly store: ConversationStore;
  readonly jobs: JobService;
  readonly clock: Clock;
  readonly log: Pick<Logger, "error">;
  /** How long the job of an answer waits for an Island. */
  readonly waitMs: number;
  /** Called when an answer could not be stored: the process must end and start again from storage. */
  readonly onFatal: (error: unknown) => void;
}

/** Jobs that an answer may take when the model finds the history too long. The last of them is asked without history. */
const MAX_TRIES = 4;

/** Owner of all answers in progress: follows their jobs, asks again with less history, and stores what came of it. */
export class AnswerDesk {
  readonly #deps: AnswerDeskDeps;
  /** By conversation, which has one at the most. */
  readonly #live = new Map<string, LiveAnswer>();
  #isClosing = false;

  constructor(deps: AnswerDeskDeps) {
    this.#deps = deps;
  }

  find(conversationId: string): LiveAnswer | undefined {
    return this.#live.get(conversationId);
  }

  /** Resolves when no answer of the conversation is about to be stored: who saw its stream end finds it in place. */
  async settled(conversationId: string): Promise<void> {
    const answer = this.#live.get(conversationId);
    if (answer?.isEnding === true) await answer.stored;
  }

  /** Follows an answer that is stored as in progress. */
  follow(answer: LiveAnswer): void {
    this.#live.set(answer.conversationId, answer);
    this.#carry(answer).catch((error: unknown) => {
      // Nothing is lost: the answer is in progress in storage, and the next start takes it up.
      if (error instanceof ServiceError && error.code === "shutting_down") return;
      this.#deps.onFatal(error);
    });
  }

  /** Takes up what was in progress when the coordinator last stopped. Run after the jobs were, before clients are let in. */
  async resume(): Promise<number> {
    const { store, jobs } = this.#deps;
    const unfinished = await store.unfinishedAnswers();
    for (const { jobId, ...ids } of unfinished) {
      const { slug, input } = await jobs.get(ids.accountId, jobId);
      const feed = await jobs.openFeed(ids.accountId, jobId);
      this.follow(new LiveAnswer(ids, { id: jobId, slug, input, feed }));
    }
    return unfinished.length;
  }

  /** From now on no answer is abandoned: the clients that are cut off did not leave, and the next start takes the answers up. */
  close(): void {
    this.#isClosing = true;
  }

  /** Stops the work at an answer; it ends with what was delivered. */
  abandon(answer: LiveAnswer): void {
    if (this.#isClosing) return;
    answer.isAbandoned = true;
    const { accountId, job } = answer;
    this.#deps.jobs.cancel(accountId, job.id).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === "job_not_cancellable") return;
      this.#deps.log.error({ err: error, job_id: job.id }, "cancelling an abandoned answer failed");
    });
  }

  async #carry(answer: LiveAnswer): Promise<void> {
    let ending = await answer.jobEnded();
    while (await this.#askAgain(answer, ending)) ending = await answer.jobEnded();
    answer.isEnding = true;
    const { answerId, conversationId, job } = answer;
    const atMs = this.#deps.clock.now();
    // False when the conversation was deleted meanwhile; there is nothing to store then.
    await this.#deps.store.endAnswer({
      answerId,
      jobId: job.id,
      content: job.feed.text(),
      atMs,
      ...answerOf(ending),
    });
    this.#live.delete(conversationId);
    answer.markStored();
  }

  /** Gives the answer another job if its last found the history too long, which the estimate before it could not know. */
  async #askAgain(answer: LiveAnswer, ending: FeedEnding): Promise<boolean> {
    if (ending.type === "done" || ending.code !== "context_length_exceeded") return false;
    if (answer.job.feed.hasOutput || answer.isAbandoned || answer.tries >= MAX_TRIES) return false;
    const messages = shortenHistory(messagesOf(answer.job), answer.tries === MAX_TRIES - 1);
    if (messages === undefined) return false;
    const { id: endedJobId, slug, input: endedInput } = answer.job;
    const input = { ...endedInput, messages };
    try {
      const { accountId } = answer;
      const job = await this.submit({ accountId, slug, input }, (newJob) =>
        this.#deps.store.askAgain(answer.answerId, endedJobId, newJob),
      );
      answer.replaceJob(job);
    } catch (error) {
      // The conversation was deleted, the credits are spent, the Cargo is gone: the answer ends as its last job did.
      if (error instanceof ServiceError && error.code !== "shutting_down") return false;
      throw error;
    }
    if (answer.isAbandoned) this.abandon(answer);
    return true;
  }

  /** Submits the chat job of an answer, stored together with it. */
  async submit(
    request: Pick<SubmitRequest, "accountId" | "slug" | "input">,
    store: NonNullable<SubmitRequest["store"]>,
  ): Promise<AnswerJob> {
    const { jobs, waitMs } = this.#deps;
    const { id } = await jobs.submit({ ...request, priority: 0, idempotency: null, waitLimitMs: waitMs, store });
    return { id, slug: request.slug, input: request.input, feed: await jobs.openFeed(request.accountId, id) };
  }
}

function messagesOf({ input }: AnswerJob): readonly ChatMessage[] {
  return chatInputSchema.parse(input).messages ?? [];
}

/** An answer in progress with what was delivered of it so far. */
export function withDelivered(message: Message, live: LiveAnswer | undefined): Message {
  if (message.state !== "in_progress" || live?.answerId !== message.id) return message;
  return { ...message, content: live.job.feed.text() };
}

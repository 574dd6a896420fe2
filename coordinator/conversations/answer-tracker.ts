import { chatInputSchema, type ChatMessage } from "../../shared/chat-input.ts";
import type { Clock } from "../../shared/clock.ts";
import { ServiceError, type ErrorCode } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Feed, FeedEnding } from "../jobs/feed.ts";
import type { JobApi } from "../jobs/job-service.ts";
import type { SubmitRequest } from "../jobs/submitted-job.ts";
import type { Message } from "../store/conversations.ts";
import type { Store } from "../store/store.ts";
import { ActiveAnswer, answerOf, type AnswerJob, type AnswerView } from "./active-answer.ts";
import { shortenHistory } from "./fit-history.ts";
import { openAnswerJob } from "./open-answer-job.ts";

export interface AnswerTrackerDeps {
  readonly store: Store["conversations"];
  readonly jobs: JobApi;
  readonly clock: Clock;
  readonly log: Pick<Logger, "error">;
  /** Other coordinators make answers, too, which this one does not follow. */
  readonly isShared?: boolean;
  /** How long the job of an answer waits for an Island. */
  readonly waitMs: number;
  /** Called when an answer could not be stored: the process must end and start again from storage. */
  readonly onFatal: (error: unknown) => void;
}

type AnswerRequest = Pick<SubmitRequest, "accountId" | "apiKey" | "slug" | "input" | "answer">;

/** Jobs of one answer when the model finds the history too long. The last one gets no history. */
const MAX_TRIES = 4;
/** When a feed that cannot be opened is asked for again. */
const RETRY_MS = 2_000;
/** Faults that pass. */
const RETRIED: ReadonlySet<ErrorCode> = new Set(["cluster_unavailable", "storage_unavailable", "overloaded"]);

/** Owner of all answers in progress: submits and follows their jobs, tries again with less history, and stores the result. */
export class AnswerTracker {
  readonly #deps: AnswerTrackerDeps;
  /** By conversation, which has at most one. */
  readonly #active = new Map<string, ActiveAnswer>();
  /** Answers that are being stored with their jobs: {@link resume} may read one before it is in {@link #active}. */
  readonly #beginning = new Set<string>();
  #isClosing = false;

  constructor(deps: AnswerTrackerDeps) {
    this.#deps = deps;
  }

  find(conversationId: string): AnswerView | undefined {
    return this.#active.get(conversationId);
  }

  /** Resolves when no answer of the conversation is about to be stored: a client that saw its stream end finds it in place. */
  async settled(conversationId: string): Promise<void> {
    const answer = this.#active.get(conversationId);
    if (answer?.isEnding === true) await answer.stored;
  }

  /** An answer in progress gets the text delivered so far as its content. */
  async withDelivered(accountId: string, message: Message): Promise<Message> {
    if (message.state !== "in_progress") return message;
    const answer = this.#active.get(message.conversationId);
    if (answer?.answerId === message.id) return { ...message, content: answer.job.feed.text() };
    if (this.#deps.isShared !== true || message.jobId === null) return message;
    try {
      return { ...message, content: (await this.#deps.jobs.openFeed(accountId, message.jobId)).text() };
    } catch (error) {
      // Its owner cannot be reached, or its conversation was deleted meanwhile.
      if (error instanceof ServiceError) return message;
      throw error;
    }
  }

  /** The job of an answer in progress that another coordinator follows. Undefined if there is none, and while this one is alone. */
  async jobElsewhere(conversationId: string): Promise<string | undefined> {
    const { store, isShared } = this.#deps;
    if (isShared !== true || this.#active.has(conversationId)) return undefined;
    const { messages } = await store.messages(conversationId, { limit: 1, offset: 0, order: "desc" });
    const [last] = messages;
    return last?.state === "in_progress" ? (last.jobId ?? undefined) : undefined;
  }

  /** Submits the job of a new answer, stored with its question, and follows it. @throws all that submitting a job can. */
  async begin(
    ids: Pick<AnswerView, "accountId" | "conversationId" | "answerId">,
    request: AnswerRequest,
  ): Promise<AnswerView> {
    this.#beginning.add(ids.answerId);
    try {
      return this.#follow(new ActiveAnswer(ids, await this.#submit(request)));
    } finally {
      this.#beginning.delete(ids.answerId);
    }
  }

  /**
   * Follows what was in progress when the coordinator last stopped. Runs after the jobs are restored, before clients are let in; again
   * when another coordinator is gone, and when the answer to a question's commit may have been lost.
   */
  async resume(): Promise<number> {
    const { store, jobs } = this.#deps;
    const answers = await store.unfinishedAnswers();
    const isHere = ({ conversationId, answerId }: (typeof answers)[number]): boolean =>
      this.#active.has(conversationId) || this.#beginning.has(answerId);
    const unfinished = answers.filter((answer) => !isHere(answer));
    const faults: unknown[] = [];
    for (const { jobId, ...ids } of unfinished) {
      try {
        this.#follow(new ActiveAnswer(ids, await openAnswerJob(jobs, ids.accountId, jobId)));
      } catch (error) {
        // The others do not wait for it.
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
    return unfinished.length;
  }

  /** From now on no answer is abandoned: the clients are cut off and did not leave, and the next start resumes their answers. */
  close(): void {
    this.#isClosing = true;
  }

  /** Cancels the job of the conversation's answer, which ends with what was delivered. Does nothing to an answer that is stored. Never rejects. */
  async abandon({ conversationId, answerId }: Pick<AnswerView, "conversationId" | "answerId">): Promise<void> {
    const answer = this.#active.get(conversationId);
    if (this.#isClosing || answer?.answerId !== answerId) return;
    answer.isAbandoned = true;
    await this.cancelJob(answer.accountId, answer.job.id);
  }

  /** Never rejects. */
  async cancelJob(accountId: string, jobId: string): Promise<void> {
    await this.#deps.jobs.cancel(accountId, jobId).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === "job_not_cancellable") return;
      this.#deps.log.error({ err: error, job_id: jobId }, "cancelling an abandoned answer failed");
    });
  }

  #follow(answer: ActiveAnswer): AnswerView {
    this.#active.set(answer.conversationId, answer);
    this.#carry(answer).catch((error: unknown) => {
      // Nothing is lost: the answer is in progress in storage, and the next start resumes it.
      if (error instanceof ServiceError && error.code === "shutting_down") return;
      this.#deps.onFatal(error);
    });
    return answer;
  }

  async #carry(answer: ActiveAnswer): Promise<void> {
    let ending = await this.#ended(answer);
    while (await this.#tryAgain(answer, ending)) ending = await this.#ended(answer);
    answer.isEnding = true;
    const { answerId, conversationId, job } = answer;
    const atMs = this.#deps.clock.now();
    const content = job.feed.text();
    // Changes nothing when the conversation was deleted meanwhile.
    await this.#deps.store.endAnswer({ answerId, jobId: job.id, content, atMs, ...answerOf(ending) });
    this.#active.delete(conversationId);
    answer.markStored();
  }

  /** The ending of the answer's present job, whose feed may be cut and opened anew meanwhile. */
  async #ended(answer: ActiveAnswer): Promise<FeedEnding> {
    for (let ending = await answer.jobEnded(); ; ending = await answer.jobEnded()) {
      if (ending !== null) return ending;
      const feed = await this.#openAgain(answer);
      if (feed !== null) answer.replaceFeed(feed);
      else await this.#deps.clock.sleep(RETRY_MS);
    }
  }

  /** Null while storage or the job's owner cannot be reached. */
  async #openAgain({ accountId, job }: ActiveAnswer): Promise<Feed | null> {
    if (this.#isClosing) throw new ServiceError("shutting_down", "The next start, or another coordinator, goes on");
    try {
      return (await openAnswerJob(this.#deps.jobs, accountId, job.id, job)).feed;
    } catch (error) {
      if (error instanceof ServiceError && RETRIED.has(error.code)) return null;
      throw error;
    }
  }

  /** Gives the answer another job if the model found the history too long, which the estimate before could not know. */
  async #tryAgain(answer: ActiveAnswer, ending: FeedEnding): Promise<boolean> {
    if (ending.type === "done" || ending.code !== "context_length_exceeded") return false;
    if (answer.job.feed.hasOutput || answer.isAbandoned || answer.tries >= MAX_TRIES) return false;
    const messages = shortenHistory(messagesOf(answer.job), answer.tries === MAX_TRIES - 1);
    if (messages === undefined) return false;
    const { accountId, answerId, job } = answer;
    const input = { ...job.input, messages };
    try {
      const link = { kind: "again", answerId, endedJobId: job.id } as const;
      const { slug, apiKey } = job;
      answer.replaceJob(await this.#submit({ accountId, apiKey, slug, input, answer: link }));
    } catch (error) {
      // The conversation was deleted, the credits are spent, or the Cargo is gone: the answer ends as its last job did.
      if (error instanceof ServiceError && error.code !== "shutting_down") return false;
      throw error;
    }
    if (answer.isAbandoned) void this.abandon(answer);
    return true;
  }

  async #submit(request: AnswerRequest): Promise<AnswerJob> {
    const { jobs, waitMs } = this.#deps;
    const job = await jobs.submit({ ...request, priority: 0, idempotency: null, waitLimitMs: waitMs });
    const { slug, input, apiKey } = request;
    return { id: job.record.id, slug, input, apiKey, feed: await job.openFeed() };
  }
}

function messagesOf({ input }: AnswerJob): readonly ChatMessage[] {
  return chatInputSchema.parse(input).messages ?? [];
}

import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import { ServiceError, type ErrorCode } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import type { Feed, FeedEnding } from "../jobs/feed.ts";
import { feedEndingOf } from "../jobs/job-ending.ts";
import type { JobApi } from "../jobs/job-service.ts";
import { endedFeed } from "../jobs/stored-feed.ts";
import type { SubmitRequest } from "../jobs/submitted-job.ts";
import type { Message } from "../store/conversations.ts";
import type { Store } from "../store/store.ts";
import { ActiveAnswer, answerEndingOf, type AnswerJob, type AnswerView } from "./active-answer.ts";
import { shortenHistory } from "./fit-history.ts";

type AnswerRequest = Pick<SubmitRequest, "accountId" | "apiKey" | "slug" | "input" | "answer">;

/** Maximum number of jobs of one answer when the model finds the history too long. The last gets no history. */
const MAX_ATTEMPTS = 4;
const RETRY_MS = 2_000;
/** Codes of errors after which opening a feed is repeated. */
const TEMPORARY: ReadonlySet<ErrorCode> = new Set(["cluster_unavailable", "storage_unavailable", "overloaded"]);

/** Owns all answers in progress: submits and follows their jobs, retries with less history, stores the results. */
export function answerTracker(
  { config, clock, log, onFatal }: Omit<Env<"chatWaitMs">, "version">,
  store: Store["conversations"],
  jobs: JobApi,
) {
  /** Answers in progress by conversation, which has at most one. */
  const active = new Map<string, ActiveAnswer>();
  /** Ids of answers that are being stored: `resume` may read such an answer before it is in `active`. */
  const starting = new Set<string>();
  let isClosing = false;

  function follow(answer: ActiveAnswer): AnswerView {
    active.set(answer.conversationId, answer);
    complete(answer).catch((error: unknown) => {
      // Nothing is lost: storage has the answer in progress, and the next start resumes it.
      if (error instanceof ServiceError && error.code === "shutting_down") return;
      onFatal(error);
    });
    return answer;
  }

  async function complete(answer: ActiveAnswer): Promise<void> {
    let ending = await waitForEnding(answer);
    while (await retryWithLess(answer, ending)) ending = await waitForEnding(answer);
    answer.isEnding = true;
    const { answerId, conversationId, job } = answer;
    const content = job.feed.text();
    // If the conversation was deleted, this changes nothing.
    await store.endAnswer({ answerId, jobId: job.id, content, atMs: clock.now(), ...answerEndingOf(ending) });
    active.delete(conversationId);
    answer.markStored();
  }

  /** Resolves with the ending of the current job. Its feed may be cut and reopened before. */
  async function waitForEnding(answer: ActiveAnswer): Promise<FeedEnding> {
    for (;;) {
      const ending = await answer.jobEnded();
      if (ending !== null) return ending;
      const feed = await reopenFeed(answer);
      if (feed !== null) answer.reopen(feed);
      else await clock.sleep(RETRY_MS);
    }
  }

  /** Opens the feed of the current job again. Returns null while storage or the job's owner is unavailable. */
  async function reopenFeed({ accountId, job }: ActiveAnswer): Promise<Feed | null> {
    const stopping = "The coordinator is stopping; the next start, or another coordinator, resumes the answer";
    if (isClosing) throw new ServiceError("shutting_down", stopping);
    try {
      return (await openAnswerJob(jobs, accountId, job.id, job)).feed;
    } catch (error) {
      if (error instanceof ServiceError && TEMPORARY.has(error.code)) return null;
      throw error;
    }
  }

  /** Submits a job with less history if the model found it too long. Returns false if the answer ends instead. */
  async function retryWithLess(answer: ActiveAnswer, ending: FeedEnding): Promise<boolean> {
    if (ending.type === "done" || ending.code !== "context_length_exceeded") return false;
    const { accountId, answerId, job, attempts } = answer;
    if (job.feed.hasOutput || answer.isAbandoned || attempts >= MAX_ATTEMPTS) return false;
    const { messages: before } = chatRequestOf(chatInputSchema.parse(job.input));
    const messages = shortenHistory(before, attempts === MAX_ATTEMPTS - 1);
    if (messages === undefined) return false;
    try {
      const { id: endedJobId, slug, apiKey, input } = job;
      const link = { kind: "again", answerId, endedJobId } as const;
      answer.replaceJob(await submit({ accountId, apiKey, slug, input: { ...input, messages }, answer: link }));
    } catch (error) {
      // The conversation was deleted, credits are used up, or the Cargo was removed: the answer ends like its last job.
      if (error instanceof ServiceError && error.code !== "shutting_down") return false;
      throw error;
    }
    if (answer.isAbandoned) void tracker.abandon(answer);
    return true;
  }

  async function submit(request: AnswerRequest): Promise<AnswerJob> {
    const job = await jobs.submit({ ...request, priority: 0, idempotency: null, waitLimitMs: config.chatWaitMs });
    const { slug, input, apiKey } = request;
    return { id: job.record.id, slug, input, apiKey, feed: await job.openFeed() };
  }

  const tracker = {
    find: (conversationId: string): AnswerView | undefined => active.get(conversationId),

    /** Waits for an answer that is being stored, so that a client that saw the end of its stream can read it. */
    async settled(conversationId: string): Promise<void> {
      const answer = active.get(conversationId);
      if (answer?.isEnding === true) await answer.stored;
    },

    /** Returns the message; for an answer in progress, with the text delivered so far. */
    async withDelivered(accountId: string, message: Message): Promise<Message> {
      if (message.state !== "in_progress") return message;
      const answer = active.get(message.conversationId);
      if (answer?.answerId === message.id) return { ...message, content: answer.job.feed.text() };
      if (message.jobId === null) return message;
      try {
        return { ...message, content: (await jobs.openFeed(accountId, message.jobId)).text() };
      } catch (error) {
        // The owner of the job is unavailable, or the conversation was deleted.
        if (error instanceof ServiceError) return message;
        throw error;
      }
    },

    /** Returns the id of the job of an answer that another coordinator follows; otherwise undefined. */
    async jobElsewhere(conversationId: string): Promise<string | undefined> {
      if (active.has(conversationId)) return undefined;
      const [last] = await store.history(conversationId, 1, 1);
      return last?.state === "in_progress" ? (last.jobId ?? undefined) : undefined;
    },

    /** Submits the job of a new answer with its question, and follows it. @throws the errors of `submit` */
    async begin(
      ids: Pick<AnswerView, "accountId" | "conversationId" | "answerId">,
      request: AnswerRequest,
    ): Promise<AnswerView> {
      starting.add(ids.answerId);
      try {
        return follow(new ActiveAnswer(ids, await submit(request)));
      } finally {
        starting.delete(ids.answerId);
      }
    },

    /**
     * Adopts and follows unfinished answers that no coordinator follows, and returns their number. Runs after the jobs
     * are restored and before clients can connect. Runs again after another coordinator died, and when the reply to the
     * commit of a question may have been lost.
     */
    async resume(): Promise<number> {
      const unfinished = (await store.unfinishedAnswers()).filter(
        ({ conversationId, answerId }) => !active.has(conversationId) && !starting.has(answerId),
      );
      const faults: unknown[] = [];
      for (const { jobId, ...ids } of unfinished) {
        try {
          follow(new ActiveAnswer(ids, await openAnswerJob(jobs, ids.accountId, jobId)));
        } catch (error) {
          // The fault of one answer must not keep the others from being resumed.
          faults.push(error);
        }
      }
      if (faults.length > 0) throw faults[0];
      return unfinished.length;
    },

    /** Makes `abandon` a no-op: the shutdown disconnects clients, and the next start resumes their answers. */
    close(): void {
      isClosing = true;
    },

    /**
     * Cancels the job of an answer, which then ends with the delivered text. No-op for a stored answer. Never rejects.
     */
    async abandon({ conversationId, answerId }: Pick<AnswerView, "conversationId" | "answerId">): Promise<void> {
      const answer = active.get(conversationId);
      if (isClosing || answer?.answerId !== answerId) return;
      answer.isAbandoned = true;
      await tracker.cancelJob(answer.accountId, answer.job.id);
    },

    /** Cancels a job. Never rejects. */
    async cancelJob(accountId: string, jobId: string): Promise<void> {
      await jobs.cancel(accountId, jobId).catch((error: unknown) => {
        if (error instanceof ServiceError && error.code === "job_not_cancellable") return;
        log.error({ err: error, job_id: jobId }, "Could not cancel an abandoned answer");
      });
    },
  };
  return tracker;
}

const GONE: FeedEnding = {
  type: "error",
  code: "internal",
  message: "The job of this answer no longer exists",
  retryable: false,
};

/**
 * Opens the job of an answer. If its output was removed, or the job does not exist, the feed has only an end.
 * @throws {ServiceError} while storage or the job's owner is unavailable
 */
async function openAnswerJob(
  jobs: Pick<JobApi, "get" | "openFeed">,
  accountId: string,
  id: string,
  known?: Pick<AnswerJob, "slug" | "input">,
): Promise<AnswerJob> {
  try {
    const feed = await jobs.openFeed(accountId, id);
    const { slug, input } = known ?? (await jobs.get(accountId, id));
    return { id, slug, input, feed };
  } catch (error) {
    if (!(error instanceof ServiceError) || (error.code !== "content_removed" && error.code !== "not_found"))
      throw error;
    const ending = error.code === "not_found" ? GONE : await readEnding(jobs, accountId, id);
    return { id, slug: "", input: {}, feed: endedFeed(id, ending) };
  }
}

async function readEnding(jobs: Pick<JobApi, "get">, accountId: string, id: string): Promise<FeedEnding> {
  try {
    return feedEndingOf({ ...(await jobs.get(accountId, id)), output: undefined });
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return GONE;
    throw error;
  }
}

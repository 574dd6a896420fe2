import { chatInputSchema, type ChatMessage } from "../../shared/chat-input.ts";
import { ServiceError, type ErrorCode } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import type { Feed, FeedEnding } from "../jobs/feed.ts";
import { feedEndingOf } from "../jobs/job-ending.ts";
import type { JobApi } from "../jobs/job-service.ts";
import { endedFeed } from "../jobs/stored-feed.ts";
import type { SubmitRequest } from "../jobs/submitted-job.ts";
import type { Message } from "../store/conversations.ts";
import type { Store } from "../store/store.ts";
import { ActiveAnswer, answerOf, type AnswerJob, type AnswerView } from "./active-answer.ts";
import { shortenHistory } from "./fit-history.ts";

type AnswerRequest = Pick<SubmitRequest, "accountId" | "apiKey" | "slug" | "input" | "answer">;

/** Maximum jobs of one answer when the model finds the history too long. The last one gets no history. */
const MAX_TRIES = 4;
/** Delay before a feed that could not be opened is requested again. */
const RETRY_MS = 2_000;
const RETRIED: ReadonlySet<ErrorCode> = new Set(["cluster_unavailable", "storage_unavailable", "overloaded"]);

/**
 * The owner of all answers in progress: submits and follows their jobs, retries with less history, and stores the
 * results.
 */
export function answerTracker(
  { config, clock, log, onFatal }: Omit<Env<"chatWaitMs">, "version">,
  store: Store["conversations"],
  jobs: JobApi,
) {
  /** Answers by conversation, which has at most one. */
  const active = new Map<string, ActiveAnswer>();
  /** Answers that are being stored with their jobs: `resume` may read one before it is in `active`. */
  const beginning = new Set<string>();
  let isClosing = false;

  function follow(answer: ActiveAnswer): AnswerView {
    active.set(answer.conversationId, answer);
    carry(answer).catch((error: unknown) => {
      // Nothing is lost: the answer is in progress in storage, and the next start resumes it.
      if (error instanceof ServiceError && error.code === "shutting_down") return;
      onFatal(error);
    });
    return answer;
  }

  async function carry(answer: ActiveAnswer): Promise<void> {
    let ending = await ended(answer);
    while (await tryAgain(answer, ending)) ending = await ended(answer);
    answer.isEnding = true;
    const { answerId, conversationId, job } = answer;
    const atMs = clock.now();
    const content = job.feed.text();
    // No-op if the conversation was deleted.
    await store.endAnswer({ answerId, jobId: job.id, content, atMs, ...answerOf(ending) });
    active.delete(conversationId);
    answer.markStored();
  }

  /** Returns the ending of the answer's present job. Its feed may be cut and reopened before that. */
  async function ended(answer: ActiveAnswer): Promise<FeedEnding> {
    for (let ending = await answer.jobEnded(); ; ending = await answer.jobEnded()) {
      if (ending !== null) return ending;
      const feed = await openAgain(answer);
      if (feed !== null) answer.replaceFeed(feed);
      else await clock.sleep(RETRY_MS);
    }
  }

  /** Returns null while storage or the job's owner is unavailable. */
  async function openAgain({ accountId, job }: ActiveAnswer): Promise<Feed | null> {
    if (isClosing)
      throw new ServiceError(
        "shutting_down",
        "The coordinator is stopping; the next start, or another coordinator, resumes the answer",
      );
    try {
      return (await openAnswerJob(jobs, accountId, job.id, job)).feed;
    } catch (error) {
      if (error instanceof ServiceError && RETRIED.has(error.code)) return null;
      throw error;
    }
  }

  /** Submits another job if the model found the history too long, which the estimate could not predict. */
  async function tryAgain(answer: ActiveAnswer, ending: FeedEnding): Promise<boolean> {
    if (ending.type === "done" || ending.code !== "context_length_exceeded") return false;
    if (answer.job.feed.hasOutput || answer.isAbandoned || answer.tries >= MAX_TRIES) return false;
    const messages = shortenHistory(messagesOf(answer.job), answer.tries === MAX_TRIES - 1);
    if (messages === undefined) return false;
    const { accountId, answerId, job } = answer;
    const input = { ...job.input, messages };
    try {
      const link = { kind: "again", answerId, endedJobId: job.id } as const;
      const { slug, apiKey } = job;
      answer.replaceJob(await submit({ accountId, apiKey, slug, input, answer: link }));
    } catch (error) {
      // The conversation was deleted, the credits are spent, or the Cargo is gone: the answer ends like its last job.
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
    find(conversationId: string): AnswerView | undefined {
      return active.get(conversationId);
    },

    /**
     * Resolves when no answer of the conversation is being stored, so that a client that saw the end of the stream
     * finds the answer.
     */
    async settled(conversationId: string): Promise<void> {
      const answer = active.get(conversationId);
      if (answer?.isEnding === true) await answer.stored;
    },

    /** Returns the message. The content of an answer in progress is the text delivered so far. */
    async withDelivered(accountId: string, message: Message): Promise<Message> {
      if (message.state !== "in_progress") return message;
      const answer = active.get(message.conversationId);
      if (answer?.answerId === message.id) return { ...message, content: answer.job.feed.text() };
      if (message.jobId === null) return message;
      try {
        return { ...message, content: (await jobs.openFeed(accountId, message.jobId)).text() };
      } catch (error) {
        // The job's owner is unavailable, or the conversation was deleted.
        if (error instanceof ServiceError) return message;
        throw error;
      }
    },

    /** Returns the job of an answer in progress that another coordinator follows. Undefined if there is none. */
    async jobElsewhere(conversationId: string): Promise<string | undefined> {
      if (active.has(conversationId)) return undefined;
      const [last] = await store.history(conversationId, 1, 1);
      return last?.state === "in_progress" ? (last.jobId ?? undefined) : undefined;
    },

    /**
     * Submits the job of a new answer, stored with its question, and follows it. @throws the errors of submitting a
     * job.
     */
    async begin(
      ids: Pick<AnswerView, "accountId" | "conversationId" | "answerId">,
      request: AnswerRequest,
    ): Promise<AnswerView> {
      beginning.add(ids.answerId);
      try {
        return follow(new ActiveAnswer(ids, await submit(request)));
      } finally {
        beginning.delete(ids.answerId);
      }
    },

    /**
     * Follows the answers that were in progress when the coordinator last stopped. Runs after the jobs are restored,
     * before clients can connect. Runs again after another coordinator died, and when the result of a question's commit
     * may have been lost.
     */
    async resume(): Promise<number> {
      const answers = await store.unfinishedAnswers();
      const isHere = ({ conversationId, answerId }: (typeof answers)[number]): boolean =>
        active.has(conversationId) || beginning.has(answerId);
      const unfinished = answers.filter((answer) => !isHere(answer));
      const faults: unknown[] = [];
      for (const { jobId, ...ids } of unfinished) {
        try {
          follow(new ActiveAnswer(ids, await openAnswerJob(jobs, ids.accountId, jobId)));
        } catch (error) {
          // Other answers do not wait for this one.
          faults.push(error);
        }
      }
      if (faults.length > 0) throw faults[0];
      return unfinished.length;
    },

    /**
     * Stops abandoning answers: clients are now disconnected by the shutdown, and the next start resumes their answers.
     */
    close(): void {
      isClosing = true;
    },

    /**
     * Cancels the job of the conversation's answer, which ends with the delivered text. No-op for a stored answer.
     * Never rejects.
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

function messagesOf({ input }: AnswerJob): readonly ChatMessage[] {
  return chatInputSchema.parse(input).messages ?? [];
}

const GONE: FeedEnding = {
  type: "error",
  code: "internal",
  message: "The job of this answer no longer exists",
  retryable: false,
};

/**
 * Opens the job of an answer with its feed. If its output was removed, or the job is gone, the feed has only its end.
 * `known`: fields of the job that were read before.
 * @throws {ServiceError} while storage or the job's owner is unavailable.
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
    if (!isOf(error, "content_removed") && !isOf(error, "not_found")) throw error;
    const ending = isOf(error, "not_found") ? GONE : await endingOf(jobs, accountId, id);
    return { id, slug: "", input: {}, feed: endedFeed(id, ending) };
  }
}

async function endingOf(jobs: Pick<JobApi, "get">, accountId: string, id: string): Promise<FeedEnding> {
  try {
    return feedEndingOf({ ...(await jobs.get(accountId, id)), output: undefined });
  } catch (error) {
    if (isOf(error, "not_found")) return GONE;
    throw error;
  }
}

function isOf(error: unknown, code: "content_removed" | "not_found"): boolean {
  return error instanceof ServiceError && error.code === code;
}

import type { ServerResponse } from "node:http";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import type { FeedEnding } from "../../jobs/feed.ts";
import type { JobRecord } from "../../store/job-store.ts";
import { JobFailedError, NoIslandError } from "../error-answers.ts";
import type { HttpDeps } from "../http-deps.ts";

/*
 * What requests have in common whose client waits for a job's result on the connection: chats, answers of conversations, embeddings.
 */

/** How long before the wait limit the reason for waiting is noted: when the limit has passed nobody knows it any more. */
const NOTE_WAITING_MS = 250;

/** Aborts when the client leaves before the answer is written. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  response.once("close", () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}

/** Nobody is left to be told: a job that ended meanwhile is fine, anything else is a fault for the log. */
export function cancelQuietly({ jobs, log }: Pick<HttpDeps, "jobs" | "log">, { accountId, id }: JobRecord): void {
  jobs.cancel(accountId, id).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "job_not_cancellable") return;
    log.error({ err: error, job_id: id }, "cancelling an abandoned job failed");
  });
}

/** Asks shortly before the wait limit why the job still waits. `jobId`: the one that is waited for at that moment. */
export function noteWaiting(
  { jobs, clock, options, log }: Pick<HttpDeps, "jobs" | "clock" | "options" | "log">,
  accountId: string,
  jobId: () => string,
) {
  let noted: string | null = null;
  const timer = clock.schedule(Math.max(0, options.chatWaitMs - NOTE_WAITING_MS), () => {
    const id = jobId();
    jobs.get(accountId, id).then(
      ({ waiting }) => {
        noted = waiting?.message ?? null;
      },
      (error: unknown) => log.error({ err: error, job_id: id }, "reading why a job waits failed"),
    );
  });
  return { cancel: () => timer.cancel(), message: () => noted };
}

/** What the client is told of a job that ended without a result. `waiting`: as {@link noteWaiting} noted it. */
export function failureOf(ending: Extract<FeedEnding, { type: "error" }>, waiting: string | null): ServiceError {
  if (ending.code === "wait_timeout") return new NoIslandError(waiting);
  if (ending.code === "context_length_exceeded") return new ServiceError("context_length_exceeded", ending.message);
  // Only the Island's runtime could tell (a JSON schema that no grammar can keep, say); a client that tries again fails again.
  if (ending.code === "invalid_input") return new ValidationError([{ path: "", message: ending.message }]);
  return new JobFailedError(ending);
}

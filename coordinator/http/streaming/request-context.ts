import type { ServerResponse } from "node:http";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { submitterOf, type Submitter } from "../../accounts/identity.ts";
import type { AskedTerms } from "../../credits/trust.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import { openUntil } from "../../jobs/until-feed.ts";
import type { JobHandle, SubmitRequest } from "../../jobs/submitted-job.ts";
import type { HttpDeps } from "../http-deps.ts";
import { nameIgnored, type Call } from "../route-group.ts";
import { askedTermsOf } from "../schemas/trust-fields.ts";
import { JobFailedError, NoIslandError } from "../error-responses.ts";

/** Context of a request's jobs: the submitter, and the client on a connection or the batch line that waits for them. */
export interface RequestContext {
  readonly submitter: Submitter;
  /** Aborts when the client disconnects or the batch line is abandoned. */
  readonly signal: AbortSignal;
  /** Called with the names of ignored parameters, some of which depend on the Cargo. Absent for a batch line. */
  readonly onIgnored?: (names: readonly string[]) => void;
}

/** A request whose client waits on its connection. */
export type ClientCall = Pick<Call, "c" | "identity" | "ignored"> & { readonly body: AskedTerms };

export type JobRunDeps = Pick<HttpDeps, "catalog" | "log"> & {
  readonly options: Pick<HttpDeps["options"], "chatWaitMs">;
  readonly jobs: Pick<HttpDeps["jobs"], "submit">;
};

export function requestContextOf({ c, identity, ignored, body }: ClientCall): RequestContext {
  return {
    submitter: { ...submitterOf(identity), ...askedTermsOf(body), ignoredParameters: ignored },
    signal: disconnectSignal(c.env.outgoing),
    onIgnored: (names) => nameIgnored(c, names),
  };
}

/** The signal of each response, shared by all jobs that its client waits for. */
const signals = new WeakMap<ServerResponse, AbortSignal>();

export function disconnectSignal(response: ServerResponse): AbortSignal {
  const known = signals.get(response);
  if (known !== undefined) return known;
  const controller = new AbortController();
  signals.set(response, controller.signal);
  if (response.destroyed) controller.abort();
  response.once("close", () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}

/** Cancels a job whose client has disconnected. Logs errors, unless the job has already ended. */
export function cancelAbandoned(job: JobHandle, log: HttpDeps["log"]): void {
  job.cancel().catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "job_not_cancellable") return;
    log.error({ err: error, job_id: job.record.id }, "Could not cancel an abandoned job");
  });
}

export function cancelOnDisconnect(job: JobHandle, signal: AbortSignal, log: HttpDeps["log"]): void {
  const cancel = (): void => cancelAbandoned(job, log);
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel);
}

/**
 * Resolves with the job's feed once `isReady` returns true or `signal` aborts. Cancels a job whose feed cannot be read
 * at this coordinator, because its client gets none of its output.
 * @throws {ServiceError} `cluster_unavailable`, `storage_unavailable`, `overloaded`
 */
export async function readyFeed(
  job: JobHandle,
  isReady: (feed: Feed) => boolean,
  signal: AbortSignal,
  log: HttpDeps["log"],
): Promise<Feed> {
  try {
    return await openUntil(() => job.openFeed(), isReady, signal);
  } catch (error) {
    cancelAbandoned(job, log);
    throw error;
  }
}

export function failureOf(ending: Extract<FeedEnding, { type: "error" }>): ServiceError {
  if (ending.code === "wait_timeout" || ending.code === "no_island_fits") return new NoIslandError(ending);
  if (ending.code === "context_length_exceeded") return new ServiceError("context_length_exceeded", ending.message);
  // Only the Island's runtime detects this error (for example a schema that no grammar can express). A retry fails too.
  if (ending.code === "invalid_input") return new ValidationError([{ path: "", message: ending.message }]);
  return new JobFailedError(ending);
}

const INPUT = "input.";

/** Maps the path of a field in a job's input, without `input.`, to the field of the client's request. */
export type FieldOf = (path: string) => string;

/**
 * Submits a job for a waiting client. Errors name the fields of the client's request.
 * @param fieldOf Default: the fields of the request have the same names.
 */
export async function submitAs(
  { jobs }: Pick<JobRunDeps, "jobs">,
  request: Omit<SubmitRequest, "priority" | "idempotency">,
  fieldOf: FieldOf = (path) => path,
): Promise<JobHandle> {
  try {
    return await jobs.submit({ ...request, priority: 0, idempotency: null });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(
      error.details.map(({ path, message }) => ({
        path: path.startsWith(INPUT) ? fieldOf(path.slice(INPUT.length)) : path,
        message,
      })),
    );
  }
}

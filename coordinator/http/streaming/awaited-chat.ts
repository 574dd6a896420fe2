import type { Clock } from "../../../shared/clock.ts";
import type { Submitter } from "../../accounts/identity.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import type { JobHandle, SubmitRequest } from "../../jobs/submitted-job.ts";
import type { HttpDeps } from "../http-deps.ts";
import { EXPLAIN_EVERY_MS, type FeedEncoder, streamFeed } from "./sse.ts";
import {
  cancelAbandoned,
  cancelOnDisconnect,
  failureOf,
  readyFeed,
  requestContextOf,
  submitAs,
  type ClientCall,
  type JobRunDeps,
  type RequestContext,
} from "./request-context.ts";
import type { AwaitedJob } from "./whole-output.ts";

/** A chat to submit for a waiting client or a batch line, independent of the format of request and response. */
export interface ChatSubmission extends Omit<AwaitedJob, "slug"> {
  /** Slug or alias of a chat Cargo; null or undefined for the operator's default. */
  readonly model: string | null | undefined;
  /** Whether the response is a stream; read only by {@link awaitChat}. Default: false. */
  readonly isStreamed?: boolean;
  /** Paths of the parameters, except the effort, that a Cargo without reasoning ignores. */
  readonly reasoningHints?: readonly string[];
  /**
   * Called once when the job is stored and its feed is open, before the wait for output. If the promise rejects, the
   * job is cancelled.
   */
  readonly onJob?: (job: JobHandle) => Promise<void>;
}

/** A chat whose response can start: it completed, or it is streamed and has output or waits for a long time. */
export interface AwaitedChat {
  readonly job: JobHandle;
  readonly feed: Feed;
}

/**
 * Runs a chat until its response can start. Returns null if the client has disconnected; the job is then cancelled. No
 * header is sent before that, so that a failure can still set the status. The response of a streamed chat without
 * output starts after {@link EXPLAIN_EVERY_MS}.
 * @throws {ServiceError} of the submission; `no_island_available` when no Island started the job in time; `job_failed`
 */
export function awaitChat(
  deps: JobRunDeps & Pick<HttpDeps, "clock">,
  call: ClientCall,
  submission: ChatSubmission,
): Promise<AwaitedChat | null> {
  const { c, identity } = call;
  // The stream is opened before the submission, so that a chat that may not be streamed is not charged.
  const open = (): Promise<void> | undefined => c.get("limits").openStream(identity, c.env.outgoing);
  const stream = submission.isStreamed === true ? { open, clock: deps.clock } : null;
  return runChat(deps, requestContextOf(call), submission, stream);
}

interface ChatStream {
  readonly open: () => Promise<void> | undefined;
  readonly clock: Pick<Clock, "schedule">;
}

/**
 * Runs a chat as {@link awaitChat} does, for a client or a batch line.
 * @param stream Default: the chat is not streamed and runs to its end.
 */
export async function runChat(
  deps: JobRunDeps,
  { submitter, signal, onIgnored }: RequestContext,
  submission: ChatSubmission,
  stream: ChatStream | null = null,
): Promise<AwaitedChat | null> {
  const { log } = deps;
  const job = await submitChat(deps, submitter, submission, bindToClient(deps), stream?.open);
  onIgnored?.(job.record.ignoredParameters ?? []);
  cancelOnDisconnect(job, signal, log);
  const isStreamed = stream !== null;
  const isReady = ({ ending, hasOutput }: Feed): boolean => ending !== null || (isStreamed && hasOutput);
  const late = new AbortController();
  const timer = stream?.clock.schedule(EXPLAIN_EVERY_MS, () => late.abort());
  const openFeed = openFirst(job, submission.onJob);
  const readySignal = isStreamed ? AbortSignal.any([signal, late.signal]) : signal;
  const feed = await readyFeed({ ...job, openFeed }, isReady, readySignal, log).finally(() => timer?.cancel());
  if (signal.aborted) return null;
  if (feed.ending?.type === "error" && !(isStreamed && feed.hasOutput)) throw failureOf(feed.ending);
  return { job, feed };
}

/**
 * Returns a function that opens the job's feed. After the first opening it calls `onJob`, which may remove the job's
 * content: a quick job may have ended before that.
 */
function openFirst(job: JobHandle, onJob: ChatSubmission["onJob"]): () => Promise<Feed> {
  let isFirst = true;
  return async () => {
    const opening = job.openFeed();
    if (isFirst) {
      isFirst = false;
      await Promise.allSettled([opening]);
      await onJob?.(job);
    }
    return opening;
  };
}

/**
 * Submits another chat of a streamed response and opens its feed. Returns null if the client has disconnected.
 * @throws {ServiceError}
 */
export async function openChat(
  deps: JobRunDeps,
  call: ClientCall,
  submission: ChatSubmission,
): Promise<AwaitedChat | null> {
  const { submitter, signal } = requestContextOf(call);
  if (signal.aborted) return null;
  const job = await submitChat(deps, submitter, submission, bindToClient(deps));
  cancelOnDisconnect(job, signal, deps.log);
  const feed = await readyFeed(job, () => true, signal, deps.log);
  return signal.aborted ? null : { job, feed };
}

/** Submits a chat that continues without its client. @throws {ServiceError} of the submission */
export async function startChat(
  deps: Pick<HttpDeps, "jobs" | "catalog">,
  call: ClientCall,
  submission: ChatSubmission,
): Promise<JobHandle> {
  const { submitter, onIgnored } = requestContextOf(call);
  const job = await submitChat(deps, submitter, submission, {});
  onIgnored?.(job.record.ignoredParameters ?? []);
  return job;
}

type ClientBound = Pick<SubmitRequest, "waitLimitMs" | "isClientBound">;

/** Returns the fields of a job whose client waits on its connection and cannot read the job after losing it. */
function bindToClient({ options }: JobRunDeps): ClientBound {
  return { waitLimitMs: options.chatWaitMs, isClientBound: true };
}

async function submitChat(
  deps: Pick<JobRunDeps, "jobs" | "catalog">,
  submitter: Submitter,
  { model, input: requested, fieldOf = (path) => path, reasoningHints = [] }: ChatSubmission,
  bound: ClientBound,
  beforeSubmission?: ChatStream["open"],
): Promise<JobHandle> {
  const cargo = await findModelFor("chat", deps.catalog, model, submitter.accountId);
  await beforeSubmission?.();
  const request = { ...submitter, ...bound, slug: cargo.slug, input: requested };
  if (cargo.reasoning === true) return submitAs(deps, request, fieldOf);
  // A Cargo without reasoning ignores the requested effort.
  const { reasoning_effort: effort = "none", ...rest } = requested;
  const ignoredEffort = effort === "none" ? [] : [fieldOf("reasoning_effort")];
  const ignoredParameters = [...(submitter.ignoredParameters ?? []), ...reasoningHints, ...ignoredEffort];
  return submitAs(deps, { ...request, input: effort === "none" ? requested : rest, ignoredParameters }, fieldOf);
}

/** Streams the chat. From here on the relay detects a disconnect of the client, which cannot resume the stream. */
export function streamChat(
  deps: HttpDeps,
  { c, identity }: ClientCall,
  { job, feed }: AwaitedChat,
  encoder: FeedEncoder,
): Response {
  const onCut = (): void => cancelAbandoned(job, deps.log);
  return streamFeed(deps, { response: c.env.outgoing, identity, feed, encoder, onCut });
}

/** Returns the end of a chat that is not streamed. @throws unless the chat ended with `done`, as all such chats do */
export function doneOf({ job, feed }: AwaitedChat): Extract<FeedEnding, { type: "done" }> {
  if (feed.ending?.type !== "done") throw new Error(`Feed of ${job.record.id} did not end with done`);
  return feed.ending;
}

import type { Clock } from "../../../shared/clock.ts";
import type { Submitter } from "../../accounts/identity.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import type { JobHandle, SubmitRequest } from "../../jobs/submitted-job.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import type { HttpDeps } from "../http-deps.ts";
import { EXPLAIN_EVERY_MS, type FeedEncoder, streamFeed } from "./sse.ts";
import {
  cancelAbandoned,
  cancelWhenGone,
  failureOf,
  readyFeed,
  submitAs,
  waitingClientOf,
  type AnswerDeps,
  type ChatClient,
  type FieldOf,
  type RequestContext,
} from "./request-context.ts";

/*
 * Shared by the endpoints that run one chat for a client that waits on the connection, streamed or not, whatever the shape of their
 * requests and answers.
 */

export interface ChatSubmission {
  /** Slug or alias of a chat Cargo; null or undefined: the operator's default. */
  readonly model: string | null | undefined;
  readonly input: JobInput;
  readonly isStreamed: boolean;
  /** By default the client's fields have the names of the input's. */
  readonly fieldOf?: FieldOf;
  /** Paths of other parameters than the effort that a Cargo without reasoning ignores. */
  readonly reasoningHints?: readonly string[];
  /** Called once the job is stored and its feed was opened, before it is waited for. When it rejects, the job is cancelled. */
  readonly onJob?: (job: JobHandle) => Promise<void>;
}

/** A chat that can be answered: it has ended well, or it is streamed and has output. */
export interface AwaitedChat {
  readonly job: JobHandle;
  readonly feed: Feed;
}

/**
 * Runs a chat until it can be answered. Null when the client has left: the job is cancelled, and there is nobody to answer. No header is
 * sent before, so that a failure can still have its status; a streamed chat without output is answered after {@link EXPLAIN_EVERY_MS}.
 * @throws {ServiceError} of the submission; `no_island_available` when no Island took it in time; `job_failed`
 */
export function awaitChat(
  deps: AnswerDeps & Pick<HttpDeps, "clock">,
  call: ChatClient,
  order: ChatSubmission,
): Promise<AwaitedChat | null> {
  const { c, identity } = call;
  const client = waitingClientOf(call);
  if (!order.isStreamed) return run(deps, client, order, null);
  // Before the submission: a chat that may not be streamed must not be paid for.
  const open = (): Promise<void> | undefined => c.get("limits").openStream(identity, c.env.outgoing);
  return run(deps, client, order, { open, clock: deps.clock });
}

/** Runs a chat to its end, as {@link awaitChat} does, for whoever waits. */
export function endedChat(
  deps: AnswerDeps,
  client: RequestContext,
  order: Omit<ChatSubmission, "isStreamed">,
): Promise<AwaitedChat | null> {
  return run(deps, client, order, null);
}

interface ChatStream {
  /** Takes the place of a stream. */
  readonly open: () => Promise<void> | undefined;
  readonly clock: Pick<Clock, "schedule">;
}

async function run(
  deps: AnswerDeps,
  { submitter, gone, onIgnored }: RequestContext,
  order: Omit<ChatSubmission, "isStreamed">,
  stream: ChatStream | null,
): Promise<AwaitedChat | null> {
  const { options, log } = deps;
  const wait = { waitLimitMs: options.chatWaitMs, isClientBound: true };
  const job = await submitChat(deps, submitter, order, { ...wait, beforeSubmission: stream?.open ?? null });
  onIgnored?.(job.record.ignoredParameters ?? []);
  cancelWhenGone(job, gone, log);
  const isStreamed = stream !== null;
  const isReady = ({ ending, hasOutput }: Feed): boolean => ending !== null || (isStreamed && hasOutput);
  const late = new AbortController();
  const timer = stream?.clock.schedule(EXPLAIN_EVERY_MS, () => late.abort());
  const signal = isStreamed ? AbortSignal.any([gone, late.signal]) : gone;
  const openFeed = openFirst(job, order.onJob);
  const feed = await readyFeed({ ...job, openFeed }, isReady, signal, log).finally(() => timer?.cancel());
  if (gone.aborted) return null;
  if (feed.ending?.type === "error" && !(isStreamed && feed.hasOutput)) throw failureOf(feed.ending);
  return { job, feed };
}

/** Opens the job's feed, and then calls `onJob` once. A quick job may have ended before that, and `onJob` removes what it wrote. */
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

/** Submits a chat for a client that waits already, and opens its feed. Null when the client has left. @throws {ServiceError} */
export async function openChat(
  deps: AnswerDeps,
  call: ChatClient,
  order: Omit<ChatSubmission, "isStreamed">,
): Promise<AwaitedChat | null> {
  const { submitter, gone } = waitingClientOf(call);
  if (gone.aborted) return null;
  const wait = { waitLimitMs: deps.options.chatWaitMs, isClientBound: true };
  const job = await submitChat(deps, submitter, order, { ...wait, beforeSubmission: null });
  cancelWhenGone(job, gone, deps.log);
  const feed = await readyFeed(job, () => true, gone, deps.log);
  return gone.aborted ? null : { job, feed };
}

/** Submits a chat that goes on without its client. @throws {ServiceError} of the submission */
export async function startChat(
  deps: Pick<HttpDeps, "jobs" | "catalog">,
  call: ChatClient,
  order: Omit<ChatSubmission, "isStreamed">,
): Promise<JobHandle> {
  const { submitter, onIgnored } = waitingClientOf(call);
  const job = await submitChat(deps, submitter, order, { beforeSubmission: null });
  onIgnored?.(job.record.ignoredParameters ?? []);
  return job;
}

async function submitChat(
  deps: Pick<AnswerDeps, "jobs" | "catalog">,
  submitter: Submitter,
  order: Omit<ChatSubmission, "isStreamed">,
  {
    beforeSubmission,
    ...wait
  }: Pick<SubmitRequest, "waitLimitMs" | "isClientBound"> & {
    readonly beforeSubmission: (() => Promise<void> | undefined) | null;
  },
): Promise<JobHandle> {
  const { model, input, fieldOf } = order;
  const cargo = await findModelFor("chat", deps.catalog, model, submitter.accountId);
  await beforeSubmission?.();
  const request = { ...submitter, slug: cargo.slug, input, priority: 0, idempotency: null, ...wait };
  return submitAs(deps, cargo.reasoning === true ? request : withoutReasoning(request, order), fieldOf);
}

/** A Cargo without reasoning ignores an effort. */
function withoutReasoning(
  request: SubmitRequest,
  { fieldOf = (path) => path, reasoningHints = [] }: Pick<ChatSubmission, "fieldOf" | "reasoningHints">,
): SubmitRequest {
  const ignoredParameters = [...(request.ignoredParameters ?? []), ...reasoningHints];
  const { reasoning_effort: effort = "none", ...input } = request.input;
  if (effort === "none") return { ...request, ignoredParameters };
  return { ...request, input, ignoredParameters: [...ignoredParameters, fieldOf("reasoning_effort")] };
}

/** Streams the chat. From here the relay watches the client, who cannot come back for the rest. */
export function streamChat(
  deps: HttpDeps,
  { c, identity }: ChatClient,
  { job, feed }: AwaitedChat,
  encoder: FeedEncoder,
): Response {
  const onCut = (): void => cancelAbandoned(job, deps.log);
  return streamFeed(deps, { response: c.env.outgoing, identity, feed, encoder, onCut });
}

/** @throws unless the chat has ended in `done`, as one has that is not streamed. */
export function doneOf({ job, feed }: AwaitedChat): Extract<FeedEnding, { type: "done" }> {
  if (feed.ending?.type !== "done") throw new Error(`Feed of ${job.record.id} has not ended in done`);
  return feed.ending;
}

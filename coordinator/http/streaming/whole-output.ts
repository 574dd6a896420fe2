import type { Usage } from "../../../shared/output.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { LargeJson } from "../../store/jobs/large-json.ts";
import {
  cancelWhenGone,
  failureOf,
  readyFeed,
  submitAs,
  type AnswerDeps,
  type FieldOf,
  type RequestContext,
} from "./request-context.ts";

/** A job whose client waits on the connection for the whole of its output. */
export interface AwaitedJob {
  readonly slug: string;
  readonly input: JobInput;
  /** By default the client's fields have the names of the input's. */
  readonly fieldOf?: FieldOf;
}

interface WholeOutput {
  readonly jobId: string;
  readonly output: unknown;
  readonly usage: Usage;
}

/** A job that has ended well. */
export interface EndedJob {
  readonly jobId: string;
  /** All that it said. */
  readonly feed: Feed;
  readonly ending: Extract<FeedEnding, { type: "done" }>;
}

/**
 * Runs a job to its end. Null when the client has left: the job is cancelled, and there is nobody to answer.
 * @throws {ServiceError} of the submission; `no_island_available` when none took it in time; `job_failed`
 */
export async function endedJob(
  deps: Omit<AnswerDeps, "catalog">,
  { submitter, gone }: RequestContext,
  { slug, input, fieldOf }: AwaitedJob,
): Promise<EndedJob | null> {
  const { options, log } = deps;
  const wait = { waitLimitMs: options.chatWaitMs, isClientBound: true };
  const request = { ...submitter, slug, input, priority: 0, idempotency: null, ...wait };
  const job = await submitAs(deps, request, fieldOf);
  cancelWhenGone(job, gone, log);
  const feed = await readyFeed(job, ({ ending }) => ending !== null, gone, log);
  const { ending } = feed;
  if (gone.aborted || ending === null) return null;
  if (ending.type === "error") throw failureOf(ending);
  return { jobId: job.record.id, feed, ending };
}

/** The output of a job, as {@link endedJob} runs it. All of it is in memory. */
export async function wholeOutput(
  deps: Omit<AnswerDeps, "catalog">,
  client: RequestContext,
  awaited: AwaitedJob,
): Promise<WholeOutput | null> {
  const job = await endedJob(deps, client, awaited);
  if (job === null) return null;
  const { output, usage } = job.ending;
  return { jobId: job.jobId, output: output instanceof LargeJson ? await output.value() : output, usage };
}

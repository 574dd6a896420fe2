import type { Usage } from "../../../shared/output.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { LargeJson } from "../../store/jobs/large-json.ts";
import {
  cancelOnDisconnect,
  failureOf,
  readyFeed,
  submitAs,
  type JobRunDeps,
  type FieldOf,
  type RequestContext,
} from "./request-context.ts";

export interface AwaitedJob {
  readonly slug: string;
  readonly input: JobInput;
  /** Maps a path of the input to the field of the client's request. Default: the fields have the same names. */
  readonly fieldOf?: FieldOf;
}

interface WholeOutput {
  readonly jobId: string;
  readonly output: unknown;
  readonly usage: Usage;
}

interface CompletedJob {
  readonly jobId: string;
  readonly feed: Feed;
  readonly ending: Extract<FeedEnding, { type: "done" }>;
}

/**
 * Runs a job to its end. Returns null if the client has disconnected; the job is then cancelled.
 * @throws {ServiceError} of the submission; `no_island_available` when no Island started the job in time; `job_failed`
 */
export async function runJob(
  deps: Omit<JobRunDeps, "catalog">,
  { submitter, signal }: RequestContext,
  { slug, input, fieldOf }: AwaitedJob,
): Promise<CompletedJob | null> {
  const { options, log } = deps;
  const request = { ...submitter, slug, input, waitLimitMs: options.chatWaitMs, isClientBound: true };
  const job = await submitAs(deps, request, fieldOf);
  cancelOnDisconnect(job, signal, log);
  const feed = await readyFeed(job, ({ ending }) => ending !== null, signal, log);
  const { ending } = feed;
  if (signal.aborted || ending === null) return null;
  if (ending.type === "error") throw failureOf(ending);
  return { jobId: job.record.id, feed, ending };
}

/** Runs a job as {@link runJob} does, and returns its output, all of it in memory. */
export async function runForOutput(
  deps: Omit<JobRunDeps, "catalog">,
  client: RequestContext,
  awaited: AwaitedJob,
): Promise<WholeOutput | null> {
  const job = await runJob(deps, client, awaited);
  if (job === null) return null;
  const { output, usage } = job.ending;
  return { jobId: job.jobId, output: output instanceof LargeJson ? await output.value() : output, usage };
}

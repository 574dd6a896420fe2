import type { ServerResponse } from "node:http";
import { ValidationError } from "../../../shared/errors.ts";
import type { Usage } from "../../../shared/output.ts";
import { submitterOf, type Identity } from "../../accounts/identity.ts";
import type { JobHandle, SubmitRequest } from "../../jobs/job-service.ts";
import type { JobInput } from "../../store/job-store.ts";
import { LargeJson } from "../../store/large-json.ts";
import type { HttpDeps } from "../http-deps.ts";
import { cancelWhenGone, failureOf, goneSignal, readyFeed, withFieldsOf } from "./waiting-client.ts";

/** A job whose client waits on the connection for the whole of its output. */
export interface AwaitedJob {
  readonly slug: string;
  readonly input: JobInput;
  /** From the path of a wrong field of the job's input, without `input.`, to the field that the client sent. */
  readonly fieldOf: (path: string) => string;
}

export interface WholeOutput {
  readonly jobId: string;
  readonly output: unknown;
  readonly usage: Usage;
}

/**
 * Runs a job to its end. Null when the client has left: the job is cancelled, and there is nobody to answer.
 * @throws {ServiceError} of the submission; `no_island_available` when none took it in time; `job_failed`
 */
export async function wholeOutput(
  deps: Pick<HttpDeps, "jobs" | "options" | "log">,
  client: { readonly identity: Identity; readonly response: ServerResponse },
  { slug, input, fieldOf }: AwaitedJob,
): Promise<WholeOutput | null> {
  const { options, log } = deps;
  const gone = goneSignal(client.response);
  const job = await submit(deps, fieldOf, {
    ...submitterOf(client.identity),
    slug,
    input,
    priority: 0,
    idempotency: null,
    waitLimitMs: options.chatWaitMs,
    isClientBound: true,
  });
  cancelWhenGone(job, gone, log);
  const { ending } = await readyFeed(job, (feed) => feed.ending !== null, gone, log);
  if (gone.aborted || ending === null) return null;
  if (ending.type === "error") throw failureOf(ending);
  const { output, usage } = ending;
  return { jobId: job.record.id, output: output instanceof LargeJson ? await output.value() : output, usage };
}

/** Errors of the Cargo's own schema name the field as the client sent it. */
async function submit(
  { jobs }: Pick<HttpDeps, "jobs">,
  fieldOf: AwaitedJob["fieldOf"],
  request: SubmitRequest,
): Promise<JobHandle> {
  try {
    return await jobs.submit(request);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw withFieldsOf(error, fieldOf);
  }
}

import { MAX_CHAT_BYTES, messagesSchema } from "../../../shared/chat-input.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import type { JobView } from "../../jobs/submitted-job.ts";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import type { OpenAiResponse, ResponseBody } from "./schemas.ts";
import { jobIdOf, namespacedFunctionsOf, presentResponse, responsePartOf } from "./present-response.ts";
import { isReference, itemOf, type Item, type Turn } from "./items.ts";
import { OutputRuns, responseIdOfItem } from "./output.ts";

/** Maximum stored responses to which one request may refer. */
const MAX_REFERRED = 256;

/** Returns a response's job. @throws {ServiceError} `not_found`, also for jobs of other endpoints; `content_removed` */
export async function responseJob({ jobs }: HttpDeps, accountId: string, id: string): Promise<JobView> {
  const jobId = jobIdOf(id);
  const missing = new ServiceError("not_found", `There is no response "${id}"`);
  if (jobId === null) throw missing;
  const job = await jobs.get(accountId, jobId).catch((error: unknown) => {
    throw error instanceof ServiceError && error.code === "not_found" ? missing : error;
  });
  if (job.inputRemovedAtMs !== null || job.outputRemovedAtMs !== null) {
    throw new ServiceError("content_removed", `The response "${id}" was removed`);
  }
  if (responsePartOf(job) === null) throw missing;
  return job;
}

const UNKNOWN_FAILURE = { code: "internal", message: "The job failed" };

export async function readResponse({ jobs }: HttpDeps, job: JobView): Promise<OpenAiResponse> {
  const { state, usage, creditsUsedMicro: costMicro, finishReason, error } = job;
  const feed = isTerminal(state) ? await jobs.openFeed(job.accountId, job.id) : null;
  await feed?.load();
  const written = OutputRuns.of(feed?.items ?? [], namespacedFunctionsOf(job));
  const failure = state === "failed" || state === "timeout" ? (error ?? UNKNOWN_FAILURE) : null;
  return presentResponse(job, { state, written, usage, costMicro, isCut: finishReason === "length", failure });
}

/** Returns the conversation up to the end of a response. @throws {ValidationError} unless that response completed */
export async function readConversation(deps: HttpDeps, accountId: string, id: string): Promise<Turn[]> {
  const job = await responseJob(deps, accountId, id).catch((error: unknown) => {
    throw isMissing(error) ? noPrevious(error.message) : error;
  });
  if (job.state !== "completed")
    throw noPrevious(`The response "${id}" has not completed; only a completed one can be continued`);
  const feed = await deps.jobs.openFeed(accountId, job.id);
  await feed.load();
  // Reasoning of earlier turns is not sent to the model.
  const { role, content, tool_calls } = assistantMessageOf(feed);
  return [...messagesSchema.parse(job.input["messages"]), { role, content, tool_calls }];
}

/**
 * Returns the input with each reference replaced by its item. The `ai` SDK refers to items of stored responses.
 * @throws {ValidationError} for an item that does not exist
 */
export async function withReferredItems(
  deps: HttpDeps,
  accountId: string,
  input: ResponseBody["input"],
): Promise<string | Item[]> {
  if (typeof input === "string") return input;
  const items: Item[] = [];
  /** The response that was read last. References to items of one response are usually consecutive. */
  let known: { readonly id: string; readonly output: OpenAiResponse["output"] } = { id: "", output: [] };
  let [reads, chars] = [0, 0];
  for (const [index, item] of input.entries()) {
    if (!isReference(item)) {
      items.push(item);
      continue;
    }
    const refuse = (message: string) => new ValidationError([{ path: `input.${index}.id`, message }]);
    const id = responseIdOfItem(item.id) ?? "";
    if (known.id !== id) {
      if (++reads > MAX_REFERRED)
        throw refuse(`refers to more than ${MAX_REFERRED} responses; send the items themselves`);
      known = { id, output: await readOutput(deps, accountId, id) };
    }
    const referred = known.output.find((each) => each.id === item.id);
    if (referred === undefined) throw refuse(`there is no stored item "${item.id}"; send the item itself`);
    chars += JSON.stringify(referred).length;
    if (chars > MAX_CHAT_BYTES) throw refuse(`the referred items must have at most ${MAX_CHAT_BYTES} bytes as JSON`);
    items.push(itemOf(referred));
  }
  return items;
}

/** Returns the output of a stored response; an empty list for a response that does not exist. */
async function readOutput(deps: HttpDeps, accountId: string, id: string): Promise<OpenAiResponse["output"]> {
  try {
    return (await readResponse(deps, await responseJob(deps, accountId, id))).output;
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.code === "not_found" || error.code === "content_removed");
}

function noPrevious(message: string): ValidationError {
  return new ValidationError([{ path: "previous_response_id", message }]);
}

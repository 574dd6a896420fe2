import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, z } from "@hono/zod-openapi";
import { messagesSchema } from "../../../shared/chat-input.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import { openUntil } from "../../jobs/until-feed.ts";
import type { JobHandle, JobView } from "../../jobs/submitted-job.ts";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import { RESPONSE_PARAMETERS } from "../openai/response-parameters.ts";
import {
  awaitChat,
  doneOf,
  endedChat,
  startChat,
  streamChat,
  type AwaitedChat,
  type ChatOrder,
} from "../streaming/awaited-chat.ts";
import type { AnswerDeps, ChatClient, WaitingClient } from "../streaming/waiting-client.ts";
import { doneProgress, responseEvents } from "../streaming/response-encoder.ts";
import {
  reasoningHintsOf,
  responseBodySchema,
  responseEventSchema,
  responseFieldOf,
  responseInputOf,
  responseSchema,
  type ResponseAnswer,
  type ResponseBody,
} from "../schemas/openai-response-schemas.ts";
import type { Turn } from "../schemas/response-items.ts";
import { OutputRuns } from "../schemas/response-output.ts";
import { BEGUN, jobIdOf, namespacedFunctionsOf, presentResponse, responsePartOf } from "../schemas/present-response.ts";
import { serveCompatible, serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../schemas/responses.ts";

const PATH = `${API_BASE}/responses`;
const responseParams = z.object({ id: z.string() });
const deletedSchema = z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) });

const createResponseRoute = createRoute({
  operationId: "createResponse",
  method: "post",
  path: PATH,
  summary: "A response, as OpenAI's API has it",
  description:
    "A chat. A response is a job, which stores it: their ids have the same end (`resp_…`, `job_…`), and what is kept of jobs, and how long, holds for it. It is cancelled when the client disconnects, unless it is in the background.",
  request: jsonBody(responseBodySchema),
  responses: {
    200: {
      description: "The response, or with `stream` its events as Server-Sent Events",
      content: { ...json(responseSchema, "").content, ...eventStream(responseEventSchema) },
    },
    ...failures(402, 404, 409),
  },
});

const getResponseRoute = createRoute({
  operationId: "getResponse",
  method: "get",
  path: `${PATH}/{id}`,
  summary: "A stored response",
  request: {
    params: responseParams,
    query: z.object({ stream: z.literal("false", "is not served for a stored response").optional() }),
  },
  responses: { 200: json(responseSchema, "The response, as far as it has come"), ...failures(404, 410) },
});

const deleteResponseRoute = createRoute({
  operationId: "deleteResponse",
  method: "delete",
  path: `${PATH}/{id}`,
  summary: "Remove the prompt and the answer of a response",
  description: "One that goes on is cancelled first.",
  request: { params: responseParams },
  responses: { 200: json(deletedSchema, "Removed"), ...failures(404) },
});

const cancelResponseRoute = createRoute({
  operationId: "cancelResponse",
  method: "post",
  path: `${PATH}/{id}/cancel`,
  summary: "Cancel a response in the background",
  request: { params: responseParams },
  responses: { 200: json(responseSchema, "The response as it is then"), ...failures(404, 410, 422) },
});

export function serveResponses(app: HttpApp, deps: HttpDeps): void {
  const { jobs } = deps;
  serveCompatible(app, deps, createResponseRoute, RESPONSE_PARAMETERS, async (call) => {
    const { c, identity, body } = call;
    const { previous_response_id: previous } = body;
    const before = previous == null ? [] : await conversationOf(deps, identity.accountId, previous);
    const isStreamed = body.stream === true;
    const order = { ...orderOf(body, before), isStreamed };
    if (body.background === true) {
      const { record } = await startChat(deps, call, order);
      return c.json(presentResponse(record, { ...BEGUN, state: record.state }));
    }
    const wait = body.store === false ? awaitForgotten : awaitChat;
    const chat = await wait(deps, call, order);
    if (chat === null) return RESPONSE_ALREADY_SENT;
    return isStreamed ? streamChat(deps, call, chat, responseEvents(chat.job.record)) : c.json(responseOf(chat));
  });

  serveScoped(app, deps, "read", getResponseRoute, async ({ c, identity, params }) =>
    c.json(await readResponse(deps, await responseJob(deps, identity.accountId, params.id))),
  );

  serveScoped(app, deps, "write", deleteResponseRoute, async ({ c, identity, params }) => {
    const { id, accountId } = await responseJob(deps, identity.accountId, params.id);
    // Of an unfinished job, the first call only cancels.
    if ((await jobs.delete(accountId, id)) !== null) await jobs.delete(accountId, id);
    return c.json({ id: params.id, object: "response" as const, deleted: true as const });
  });

  serveScoped(app, deps, "write", cancelResponseRoute, async ({ c, identity, params }) => {
    const job = await responseJob(deps, identity.accountId, params.id);
    await jobs.cancel(job.accountId, job.id);
    return c.json(await readResponse(deps, await jobs.get(job.accountId, job.id)));
  });
}

function orderOf(body: ResponseBody, before: readonly Turn[]): Omit<ChatOrder, "isStreamed"> {
  return {
    model: body.model,
    input: responseInputOf(body, before),
    fieldOf: (path) => responseFieldOf(body, path),
    reasoningHints: reasoningHintsOf(body),
  };
}

/** The whole answer to a request by itself, for whoever waits. Null when nobody does any more. @throws {ServiceError} as the endpoint */
export async function answerResponse(
  deps: AnswerDeps,
  client: WaitingClient,
  body: ResponseBody,
): Promise<ResponseAnswer | null> {
  const chat = await endedChat(deps, client, orderOf(body, []));
  return chat && responseOf(chat);
}

/** @throws unless the chat has ended in `done`. */
function responseOf(chat: AwaitedChat): ResponseAnswer {
  const { job, feed } = chat;
  const written = OutputRuns.of(feed.items, namespacedFunctionsOf(job.record));
  return presentResponse(job.record, doneProgress(doneOf(chat), written));
}

/** @throws {ServiceError} `not_found`, also for a job that is no response; `content_removed` */
async function responseJob({ jobs }: Pick<HttpDeps, "jobs">, accountId: string, id: string): Promise<JobView> {
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

async function readResponse({ jobs }: Pick<HttpDeps, "jobs">, job: JobView): Promise<ResponseAnswer> {
  const { state, usage, creditsUsedMicro: costMicro, finishReason, error } = job;
  const feed = isTerminal(state) ? await jobs.openFeed(job.accountId, job.id) : null;
  await feed?.load();
  const written = OutputRuns.of(feed?.items ?? [], namespacedFunctionsOf(job));
  const failure = state === "failed" || state === "timeout" ? (error ?? UNKNOWN_FAILURE) : null;
  return presentResponse(job, { state, written, usage, costMicro, isCut: finishReason === "length", failure });
}

/** What was said up to the end of a stored response. @throws {ValidationError} for one that is not there, or did not end well. */
async function conversationOf(deps: Pick<HttpDeps, "jobs">, accountId: string, id: string): Promise<Turn[]> {
  const job = await responseJob(deps, accountId, id).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    throw error.code === "not_found" || error.code === "content_removed" ? noPrevious(error.message) : error;
  });
  if (job.state !== "completed") throw noPrevious(`The response "${id}" is not complete`);
  const feed = await deps.jobs.openFeed(accountId, job.id);
  await feed.load();
  // Models are not shown earlier thoughts.
  const { role, content, tool_calls } = assistantMessageOf(feed);
  return [...messagesSchema.parse(job.input["messages"]), { role, content, tool_calls }];
}

function noPrevious(message: string): ValidationError {
  return new ValidationError([{ path: "previous_response_id", message }]);
}

/**
 * Awaits a chat of which nothing is kept after its end, however it comes: with an error, without its client, or by a crash. What is
 * still streamed is read from memory.
 */
async function awaitForgotten(deps: HttpDeps, client: ChatClient, order: ChatOrder): Promise<AwaitedChat | null> {
  const { jobs, log } = deps;
  const { accountId } = client.identity;
  let made: JobHandle | null = null;
  const onJob = (job: JobHandle): Promise<void> => {
    made = job;
    return jobs.keepUntilEnd(accountId, job.record.id);
  };
  const forget = async (job: JobHandle): Promise<void> => {
    await openUntil(
      () => job.openFeed(),
      ({ ending }) => ending !== null,
    );
    await jobs.delete(accountId, job.record.id);
  };
  try {
    return await awaitChat(deps, client, { ...order, onJob });
  } finally {
    // Not before the answer has its feed.
    const job = made as JobHandle | null;
    if (job !== null) {
      forget(job).catch((error: unknown) => {
        // A job that ended before its removal was noted is removed already.
        if (error instanceof ServiceError && error.code === "content_removed") return;
        log.error({ err: error, job_id: job.record.id }, "removing a response that is not to be stored failed");
      });
    }
  }
}

import { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError, type FieldError } from "../../../shared/errors.ts";
import { openUntil } from "../../jobs/until-feed.ts";
import type { JobHandle } from "../../jobs/submitted-job.ts";
import {
  awaitChat,
  doneOf,
  runChat,
  startChat,
  streamChat,
  type AwaitedChat,
  type ChatSubmission,
} from "../../http/streaming/awaited-chat.ts";
import type { JobRunDeps, ClientCall, RequestContext } from "../../http/streaming/request-context.ts";
import { doneProgress, responseEvents } from "./encoder.ts";
import {
  reasoningHintsOf,
  responseBodySchema,
  responseEventSchema,
  responseFieldOf,
  responseInputOf,
  responseSchema,
  type OpenAiResponse,
  type ResponseBody,
} from "./schemas.ts";
import { isReference, type Item, type Turn } from "./items.ts";
import { OutputRuns } from "./output.ts";
import { BEGUN, namespacedFunctionsOf, presentResponse } from "./present-response.ts";
import { readConversation, readResponse, responseJob, withReferredItems } from "./stored-responses.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json, jsonOrEvents } from "../../http/schemas/responses.ts";

const deletedSchema = z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) });

export const responseRoutes = routeGroup("/responses", { tag: "Chat", style: "openai" }, (routes, deps) => {
  const { jobs } = deps;

  routes.post("", {
    id: "createResponse",
    is: "Create a response",
    about:
      "Takes a chat in the format of OpenAI's Responses API. A response is stored as a job: the ids `resp_…` and `job_…` end in the same characters, and the retention of jobs applies. If the client disconnects, the job is cancelled, unless it runs in the background.",
    ...WAITS_FOR_JOBS,
    body: responseBodySchema,
    mayHaveImages: true,
    responses: {
      200: jsonOrEvents(
        responseSchema,
        responseEventSchema,
        "The response; with `stream`, its events as Server-Sent Events",
      ),
    },
  })(async (call) => {
    const { identity, body } = call;
    const { previous_response_id: previous } = body;
    const before = previous == null ? [] : await readConversation(deps, identity.accountId, previous);
    const isStreamed = body.stream === true;
    const input = await withReferredItems(deps, identity.accountId, body.input);
    const submission = { ...submissionOf(body, input, before), isStreamed };
    if (body.background === true) {
      const { record } = await startChat(deps, call, submission);
      return presentResponse(record, { ...BEGUN, state: record.state });
    }
    const wait = body.store === false ? awaitForgotten : awaitChat;
    const chat = await wait(deps, call, submission);
    if (chat === null) return null;
    return isStreamed ? streamChat(deps, call, chat, responseEvents(chat.job.record)) : responseOf(chat);
  });

  routes.get("/{id}", {
    id: "getResponse",
    is: "Get a response",
    access: "read",
    query: z.object({ stream: z.literal("false", "is not supported for a stored response").optional() }),
    responses: { 200: json(responseSchema, "The response in its current state") },
    fails: [404, 410],
  })(async ({ identity, params }) => readResponse(deps, await responseJob(deps, identity.accountId, params.id)));

  routes.delete("/{id}", {
    id: "deleteResponse",
    is: "Delete a response's input and output",
    about: "A response that is still running is cancelled first.",
    access: "write",
    responses: { 200: json(deletedSchema, "Removed") },
    fails: [404],
  })(async ({ identity, params }) => {
    const { id, accountId } = await responseJob(deps, identity.accountId, params.id);
    await jobs.cancel(accountId, id).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== "job_not_cancellable") throw error;
    });
    await jobs.deleteContent(accountId, id);
    return { id: params.id, object: "response" as const, deleted: true as const };
  });

  routes.post("/{id}/cancel", {
    id: "cancelResponse",
    is: "Cancel a background response",
    access: "write",
    responses: { 200: json(responseSchema, "The response after the cancellation") },
    fails: [404, 410, 422],
  })(async ({ identity, params }) => {
    const job = await responseJob(deps, identity.accountId, params.id);
    await jobs.cancel(job.accountId, job.id);
    return readResponse(deps, await jobs.get(job.accountId, job.id));
  });
});

function submissionOf(
  body: ResponseBody,
  input: string | readonly Item[],
  before: readonly Turn[],
): Omit<ChatSubmission, "isStreamed"> {
  return {
    model: body.model,
    input: responseInputOf(body, input, before),
    fieldOf: (path) => responseFieldOf(body, path),
    reasoningHints: reasoningHintsOf(body),
  };
}

export async function runResponse(
  deps: JobRunDeps,
  client: RequestContext,
  body: ResponseBody,
): Promise<OpenAiResponse | null> {
  assertIndependent(body);
  const { input } = body;
  const items = typeof input === "string" ? input : input.filter((item) => !isReference(item));
  if (items.length < input.length) {
    const message = "batch lines cannot refer to stored items; send the items themselves";
    throw new ValidationError([{ path: "input", message }]);
  }
  const chat = await runChat(deps, client, submissionOf(body, items, []));
  return chat && responseOf(chat);
}

/**
 * Refuses what a batch line cannot have, because lines are independent and are read again after a crash.
 * @throws {ValidationError}
 */
function assertIndependent({ previous_response_id: previous, background, store }: ResponseBody): void {
  const errors: FieldError[] = [];
  const refuse = (path: string, message: string): void => void errors.push({ path, message });
  if (previous != null)
    refuse("previous_response_id", "batch lines cannot continue a response; send the whole conversation in input");
  if (background === true) refuse("background", "batches already run in the background; omit it");
  if (store === false) refuse("store", "batches need stored responses; omit it or send true");
  if (errors.length > 0) throw new ValidationError(errors);
}

/** Presents the response of a chat. @throws unless the chat ended with `done` */
function responseOf(chat: AwaitedChat): OpenAiResponse {
  const { job, feed } = chat;
  const written = OutputRuns.of(feed.items, namespacedFunctionsOf(job.record));
  return presentResponse(job.record, doneProgress(doneOf(chat), written));
}

/** Runs a chat whose content is removed when its job ends, even after an error, a disconnect or a crash. */
async function awaitForgotten(deps: HttpDeps, client: ClientCall, submission: ChatSubmission) {
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
    await jobs.deleteContent(accountId, job.record.id);
  };
  try {
    return await awaitChat(deps, client, { ...submission, onJob });
  } finally {
    // The content may be removed: the response has its feed now, and reads the rest from memory.
    const job = made as JobHandle | null;
    if (job !== null) {
      forget(job).catch((error: unknown) => {
        // A job that ended before its removal was requested is already removed.
        if (error instanceof ServiceError && error.code === "content_removed") return;
        log.error({ err: error, job_id: job.record.id }, "Could not remove a response that is not stored");
      });
    }
  }
}

import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import type { Asked } from "../../conversations/conversations.ts";
import type { Message } from "../../store/conversations.ts";
import {
  answeredSchema,
  conversationEventSchema,
  postMessageSchema,
  presentMessage,
} from "../schemas/conversation-schemas.ts";
import { samplingOf } from "../schemas/chat-schemas.ts";
import { submitterOf } from "../../accounts/identity.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { jobEvents } from "../streaming/event-encoder.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { presentUsage } from "../schemas/wire-units.ts";
import { data, eventStream, failures, json, jsonBody } from "../schemas/responses.ts";
import { streamFeed } from "../streaming/stream-feed.ts";
import { failureOf, goneSignal } from "../streaming/waiting-client.ts";

const postRoute = createRoute({
  operationId: "postMessage",
  method: "post",
  path: `${API_BASE}/conversations/{id}/messages`,
  summary: "Send a message to a conversation and get the answer",
  description:
    "Runs a chat job on the history, without its oldest messages if they do not fit the model. With `stream` the answer is one " +
    "event `message`, which names the message and the job, then the job's events as in GET /jobs/{id}/stream; Last-Event-ID " +
    "there resumes them. When the client disconnects, the job is cancelled and the delivered text stays as the answer.",
  request: { params: z.object({ id: z.string() }), ...jsonBody(postMessageSchema) },
  responses: {
    200: {
      description: "The answer, or with `stream` its events",
      content: {
        ...json(data(answeredSchema), "").content,
        ...eventStream(conversationEventSchema),
      },
    },
    ...failures(402, 404, 409),
  },
});

export function serveConversationMessages(app: HttpApp, deps: HttpDeps): void {
  const { conversations } = deps;

  serveScoped(app, deps, "write", postRoute, async ({ c, identity, params, body }) => {
    const { outgoing: response } = c.env;
    const { accountId, apiKey } = submitterOf(identity);
    const isStreamed = body.stream === true;
    // Before the submission: an answer that may not be streamed must not be paid for.
    if (isStreamed) await c.get("limits").openStream(identity, response);
    const asked = await conversations.ask(accountId, params.id, body.content, samplingOf(body), apiKey);
    const { answer } = asked;
    const gone = goneSignal(response);
    const abandon = (): void => conversations.abandon(answer);
    if (gone.aborted) abandon();
    gone.addEventListener("abort", abandon);
    // No header is sent before there is an answer that no other job can take over.
    await Promise.race([isStreamed ? answer.begun : answer.stored, aborted(gone)]);
    if (gone.aborted) return RESPONSE_ALREADY_SENT;
    const { feed } = answer.job;
    const message = await conversations.answer(answer.answerId);
    // Checked first: deleting a conversation cancels the job of its answer, which is not a failure of the job.
    if (message === undefined) throw new ServiceError("not_found", "The conversation was deleted");
    if (feed.ending?.type === "error" && !(isStreamed && feed.hasOutput)) throw failureOf(feed.ending);
    if (!isStreamed) return c.json({ data: presentAnswered(asked, message) });
    // From here the relay watches the client.
    const encoder = { ...jobEvents, prologue: headEvent(asked, message) };
    return streamFeed(deps, { response, identity, feed, encoder });
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

/** The answer is stored. */
function presentAnswered({ question, answer }: Asked, message: Message): z.infer<typeof answeredSchema> {
  const { feed, id } = answer.job;
  if (feed.ending?.type !== "done") throw new Error(`Feed of ${id} has not ended in done`);
  return {
    message: presentMessage(message),
    user_message: presentMessage(question),
    job_id: id,
    usage: presentUsage(feed.ending.usage, feed.ending.creditsUsedMicro),
  };
}

/** It has no id, as it is not part of the job's stream, which the client resumes by its ids. */
function headEvent({ question, answer }: Asked, message: Message): string {
  const payload = {
    type: "message",
    conversation_id: answer.conversationId,
    job_id: answer.job.id,
    message: presentMessage(message),
    user_message: presentMessage(question),
  };
  return `event: message\ndata: ${JSON.stringify(payload)}\n\n`;
}

import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import type { AcceptedQuestion } from "../../conversations/conversations.ts";
import type { Message } from "../../store/conversations.ts";
import { submitterOf } from "../../accounts/identity.ts";
import {
  conversationSchema,
  conversationWithMessagesSchema,
  createConversationSchema,
  presentConversation,
  presentMessage,
  updateConversationSchema,
  answeredSchema,
  conversationEventSchema,
  postMessageSchema,
} from "../schemas/conversation-schemas.ts";
import { respondWithJson } from "../middleware/json-response.ts";
import { metaSchema, pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { data, json, jsonOrEvents } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";
import { samplingOf } from "../schemas/chat-schemas.ts";
import { jobEvents } from "../streaming/event-encoder.ts";
import { presentUsage } from "../schemas/wire-units.ts";
import { streamFeed } from "../streaming/sse.ts";
import { failureOf, disconnectSignal } from "../streaming/request-context.ts";

export const conversationRoutes = routeGroup("/conversations", { tag: "Conversations" }, (routes, deps) => {
  const { conversations } = deps;

  routes.post("", {
    id: "createConversation",
    is: "Start a conversation",
    access: "write",
    body: createConversationSchema,
    responses: { 201: json(data(conversationSchema), "The conversation, without messages") },
    fails: [404],
  })(async ({ identity, body }) => {
    const created = await conversations.create(identity.accountId, {
      title: body.title ?? null,
      slug: body.model ?? null,
      systemPrompt: body.system_prompt ?? null,
      metadata: body.metadata ?? {},
    });
    return { data: presentConversation(created) };
  });

  routes.get("", {
    id: "listConversations",
    is: "List conversations, newest first",
    access: "read",
    query: z.object(pageQuery()),
    responses: { 200: json(pageOf(conversationSchema), "Conversations") },
  })(async ({ identity, query }) => {
    const { conversations: page, total } = await conversations.list(identity.accountId, query);
    return presentPage(page.map(presentConversation), total, query);
  });

  routes.get("/{id}", {
    id: "getConversation",
    is: "Get a conversation with a page of its messages",
    access: "read",
    query: z.object({
      ...pageQuery(100),
      order: z.enum(["asc", "desc"]).default("asc").describe("Order of the messages; `asc` lists the oldest first"),
    }),
    responses: {
      200: json(
        z.object({
          data: conversationWithMessagesSchema,
          meta: metaSchema.describe("Position in the messages, and their total number"),
        }),
        "The conversation",
      ),
    },
    fails: [404],
  })(async ({ c, identity, params, query }) => {
    const { conversation, messages, total } = await conversations.read(identity.accountId, params.id, query);
    const { limit, offset } = query;
    return respondWithJson(c, identity, {
      data: { ...presentConversation(conversation), messages: messages.map(presentMessage) },
      meta: { total, limit, offset },
    });
  });

  routes.patch("/{id}", {
    id: "updateConversation",
    is: "Change a conversation's title or metadata",
    access: "write",
    body: updateConversationSchema,
    responses: { 200: json(data(conversationSchema), "The conversation") },
    fails: [404],
  })(async ({ identity, params, body }) => {
    const { title, metadata } = body;
    const updated = await conversations.update(identity.accountId, params.id, {
      ...(title === undefined ? {} : { title }),
      ...(metadata === undefined ? {} : { metadata }),
    });
    return { data: presentConversation(updated) };
  });

  routes.delete("/{id}", {
    id: "deleteConversation",
    is: "Delete a conversation with its messages",
    about:
      "A message in progress is cancelled. The jobs of the conversation stay in the account's list, without their input and output.",
    access: "write",
    responses: { 200: json(data(z.object({ id: z.string(), deleted: z.literal(true) })), "Deleted") },
    fails: [404],
  })(async ({ identity, params }) => {
    await conversations.delete(identity.accountId, params.id);
    return { data: { id: params.id, deleted: true } };
  });

  routes.post("/{id}/messages", {
    id: "postMessage",
    is: "Send a message to a conversation and get the assistant's message",
    about:
      "Runs a chat job on the history. If the history does not fit the model's context, the oldest messages are left out. With `stream`, the first event is `message`, with the ids of the message and the job; the job's events follow as in GET /jobs/{id}/stream, where `Last-Event-ID` resumes them. If the client disconnects, the job is cancelled and the delivered text is kept as the assistant's message.",
    access: "write",
    body: postMessageSchema,
    responses: {
      200: jsonOrEvents(
        data(answeredSchema),
        conversationEventSchema,
        "The assistant's message; with `stream`, its events",
      ),
    },
    fails: [402, 404, 409],
  })(async ({ c, identity, params, body }) => {
    const { outgoing: response } = c.env;
    const { accountId, apiKey } = submitterOf(identity);
    const isStreamed = body.stream === true;
    // The stream is opened before the submission, so that a response that may not be streamed is not charged.
    if (isStreamed) await c.get("limits").openStream(identity, response);
    const asked = await conversations.ask(accountId, params.id, body.content, samplingOf(body), apiKey);
    const { answer } = asked;
    const signal = disconnectSignal(response);
    const abandoned = new Promise<void>((resolve) => {
      const abandon = (): void => {
        conversations.abandon(answer);
        resolve();
      };
      if (signal.aborted) abandon();
      signal.addEventListener("abort", abandon);
    });
    // No header is sent before it is certain that the response belongs to this job.
    await Promise.race([isStreamed ? answer.begun : answer.stored, abandoned]);
    if (signal.aborted) return null;
    const { feed } = answer.job;
    const message = await conversations.answer(answer.answerId);
    // A missing message is checked first: deleting a conversation cancels its job, which is not a failure of the job.
    if (message === undefined)
      throw new ServiceError("not_found", "The conversation was deleted before its response was complete");
    if (feed.ending?.type === "error" && !(isStreamed && feed.hasOutput)) throw failureOf(feed.ending);
    if (!isStreamed) return { data: presentAnswered(asked, message) };
    // From here on the relay of the feed notices that the client disconnects.
    const encoder = { ...jobEvents, prologue: headEvent(asked, message) };
    return streamFeed(deps, { response, identity, feed, encoder });
  });
});

function presentAnswered({ question, answer }: AcceptedQuestion, message: Message): z.infer<typeof answeredSchema> {
  const { feed, id } = answer.job;
  if (feed.ending?.type !== "done") throw new Error(`Feed of ${id} did not end with done`);
  return {
    message: presentMessage(message),
    user_message: presentMessage(question),
    job_id: id,
    usage: presentUsage(feed.ending.usage, feed.ending.creditsUsedMicro),
  };
}

/** Encodes the first event. It has no id: it is not part of the job's stream, which clients resume by id. */
function headEvent({ question, answer }: AcceptedQuestion, message: Message): string {
  const payload = {
    type: "message",
    conversation_id: answer.conversationId,
    job_id: answer.job.id,
    message: presentMessage(message),
    user_message: presentMessage(question),
  };
  return `event: message\ndata: ${JSON.stringify(payload)}\n\n`;
}

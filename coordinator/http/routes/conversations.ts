import { createRoute, z } from "@hono/zod-openapi";
import {
  conversationSchema,
  conversationWithMessagesSchema,
  createConversationSchema,
  presentConversation,
  presentMessage,
  updateConversationSchema,
} from "../schemas/conversation-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { answerJson } from "../middleware/json-answer.ts";
import { metaSchema, pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const PATH = `${API_BASE}/conversations`;
const idParams = z.object({ id: z.string() });

const createConversationRoute = createRoute({
  operationId: "createConversation",
  method: "post",
  path: PATH,
  summary: "Start a conversation",
  request: jsonBody(createConversationSchema),
  responses: { 201: json(data(conversationSchema), "The conversation, without messages"), ...failures(404) },
});

const listRoute = createRoute({
  operationId: "listConversations",
  method: "get",
  path: PATH,
  summary: "List conversations, newest first",
  request: { query: z.object(pageQuery()) },
  responses: {
    200: json(pageOf(conversationSchema), "Conversations"),
  },
});

const detailRoute = createRoute({
  operationId: "getConversation",
  method: "get",
  path: `${PATH}/{id}`,
  summary: "A conversation with a page of its messages",
  request: {
    params: idParams,
    query: z.object({
      ...pageQuery(100),
      order: z
        .enum(["asc", "desc"])
        .default("asc")
        .openapi({ description: "Order of the messages; asc: oldest first" }),
    }),
  },
  responses: {
    200: json(
      z.object({
        data: conversationWithMessagesSchema,
        meta: metaSchema.openapi({ description: "Of the messages" }),
      }),
      "The conversation",
    ),
    ...failures(404),
  },
});

const updateRoute = createRoute({
  operationId: "updateConversation",
  method: "patch",
  path: `${PATH}/{id}`,
  summary: "Change a conversation's title or metadata",
  request: { params: idParams, ...jsonBody(updateConversationSchema) },
  responses: { 200: json(data(conversationSchema), "The conversation"), ...failures(404) },
});

const deleteRoute = createRoute({
  operationId: "deleteConversation",
  method: "delete",
  path: `${PATH}/{id}`,
  summary: "Delete a conversation with its messages",
  description:
    "An answer in progress is cancelled. The jobs of its answers stay in the account's jobs, without their prompts and answers.",
  request: { params: idParams },
  responses: { 200: json(data(z.object({ id: z.string(), deleted: z.literal(true) })), "Deleted"), ...failures(404) },
});

/** Conversations; `conversation-messages.ts` posts messages to them. */
export function serveConversations(app: HttpApp, deps: HttpDeps): void {
  const { conversations } = deps;

  serveScoped(app, deps, "write", createConversationRoute, async ({ c, identity, body }) => {
    const created = await conversations.create(identity.accountId, {
      title: body.title ?? null,
      slug: body.model ?? null,
      systemPrompt: body.system_prompt ?? null,
      metadata: body.metadata ?? {},
    });
    return c.json({ data: presentConversation(created) }, 201);
  });

  serveScoped(app, deps, "read", listRoute, async ({ c, identity, query }) => {
    const { conversations: page, total } = await conversations.list(identity.accountId, query);
    const { limit, offset } = query;
    return c.json({ data: page.map(presentConversation), meta: { total, limit, offset } });
  });

  serveScoped(app, deps, "read", detailRoute, async ({ c, identity, params, query }) => {
    const { conversation, messages, total } = await conversations.read(identity.accountId, params.id, query);
    const { limit, offset } = query;
    return answerJson(c, identity, {
      data: { ...presentConversation(conversation), messages: messages.map(presentMessage) },
      meta: { total, limit, offset },
    });
  });

  serveScoped(app, deps, "write", updateRoute, async ({ c, identity, params, body }) => {
    const { title, metadata } = body;
    const updated = await conversations.update(identity.accountId, params.id, {
      ...(title === undefined ? {} : { title }),
      ...(metadata === undefined ? {} : { metadata }),
    });
    return c.json({ data: presentConversation(updated) });
  });

  serveScoped(app, deps, "write", deleteRoute, async ({ c, identity, params }) => {
    await conversations.delete(identity.accountId, params.id);
    return c.json({ data: { id: params.id, deleted: true } });
  });
}

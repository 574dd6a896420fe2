import { z } from "@hono/zod-openapi";
import { MAX_REQUESTED_TOKENS, samplingFields } from "../../../shared/chat-input.ts";
import { KIB } from "../../../shared/format-bytes.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import { MESSAGE_ROLES, MESSAGE_STATES, type Conversation, type Message } from "../../store/conversations.ts";
import { jobEventSchemas } from "./event-schemas.ts";
import { presentTime, presentTimeOrNull, timeSchema, usageSchema } from "./wire-units.ts";

/** Maximum system prompt: a quarter of a job's input. */
const MAX_SYSTEM_PROMPT_BYTES = 64 * KIB;
/** Maximum content of a message: half of a job's input. The last quarter is for a response format. */
const MAX_CONTENT_BYTES = 128 * KIB;

function text(maxBytes: number) {
  return z
    .string()
    .min(1)
    .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= maxBytes, {
      message: `must have at most ${maxBytes} bytes as JSON`,
    });
}

const titleSchema = z.string().max(200).nullish();
const metadataSchema = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((entries) => Object.keys(entries).length <= 16, { message: "must have at most 16 entries" })
  .describe("Data for the client's own use, at most 16 entries");

export const createConversationSchema = z
  .object({
    title: titleSchema,
    model: z.string().nullish().describe("Slug or alias of a chat Cargo. Default: the operator's default chat Cargo"),
    system_prompt: text(MAX_SYSTEM_PROMPT_BYTES).nullish(),
    metadata: metadataSchema.nullish(),
  })
  .openapi("CreateConversation");

/** Body that changes a conversation. Unknown members are refused: the model and the system prompt cannot change. */
export const updateConversationSchema = z
  .strictObject(
    { title: titleSchema, metadata: metadataSchema.optional() },
    {
      error: ({ code, keys }) =>
        code === "unrecognized_keys" ? `${keys?.join(", ")}: only title and metadata can be changed` : undefined,
    },
  )
  .openapi("UpdateConversation", {
    description: "Omitted fields do not change; a null `title` removes the title",
  });

export const postMessageSchema = z
  .object({
    content: text(MAX_CONTENT_BYTES),
    ...samplingFields,
    max_completion_tokens: z.int().min(1).max(MAX_REQUESTED_TOKENS).nullish(),
    stream: z.boolean().nullish(),
    tools: z
      .null("conversations do not support tools; send the chat to /chat/completions")
      .optional()
      .describe("Not supported; must be null"),
  })
  .openapi("PostMessage");

export const conversationSchema = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    model: z.string(),
    system_prompt: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .openapi("Conversation");

const messageSchema = z
  .object({
    id: z.string(),
    role: z.enum(MESSAGE_ROLES),
    content: z.string().describe("Text of the message; while the assistant's message is in progress, the text so far"),
    status: z.enum(MESSAGE_STATES),
    job_id: z.string().nullable().describe("Job that produces the assistant's message"),
    finish_reason: z.enum(FINISH_REASONS).nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    created_at: timeSchema,
    completed_at: timeSchema.nullable(),
  })
  .openapi("Message");

export const conversationWithMessagesSchema = conversationSchema
  .extend({ messages: z.array(messageSchema) })
  .openapi("ConversationWithMessages");

export const answeredSchema = z
  .object({ message: messageSchema, user_message: messageSchema, job_id: z.string(), usage: usageSchema })
  .openapi("AnsweredMessage");

/** First event of a message's stream, before the events of its job. */
const messageEventSchema = z
  .object({
    type: z.literal("message"),
    conversation_id: z.string(),
    job_id: z.string(),
    message: messageSchema,
    user_message: messageSchema,
  })
  .openapi("MessageEvent");

export const conversationEventSchema = z
  .discriminatedUnion("type", [messageEventSchema, ...jobEventSchemas])
  .openapi("ConversationEvent");

export function presentConversation(conversation: Conversation): z.infer<typeof conversationSchema> {
  const { id, title, slug, systemPrompt, metadata, createdAtMs, updatedAtMs } = conversation;
  return {
    id,
    title,
    model: slug,
    system_prompt: systemPrompt,
    metadata: { ...metadata },
    created_at: presentTime(createdAtMs),
    updated_at: presentTime(updatedAtMs),
  };
}

export function presentMessage(message: Message): z.infer<typeof messageSchema> {
  const { id, role, content, state, jobId, finishReason, error, createdAtMs, completedAtMs } = message;
  return {
    id,
    role,
    content,
    status: state,
    job_id: jobId,
    finish_reason: finishReason,
    error: error && { code: error.code, message: error.message },
    created_at: presentTime(createdAtMs),
    completed_at: presentTimeOrNull(completedAtMs),
  };
}

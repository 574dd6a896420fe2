import type { Conversation, Message, MessageError } from "../../conversation-store.ts";

export const CONVERSATION_COLUMNS = `id, account_id AS accountId, title, slug, system_prompt AS systemPrompt, metadata,
  created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs` as const;

export const MESSAGE_COLUMNS = `id, conversation_id AS conversationId, role, content, state, job_id AS jobId,
  finish_reason AS finishReason, error, created_at_ms AS createdAtMs, completed_at_ms AS completedAtMs` as const;

/** A row of CONVERSATION_COLUMNS. `metadata`: JSON text. */
export type ConversationRow = Omit<Conversation, "metadata"> & { readonly metadata: string };
/** A row of MESSAGE_COLUMNS. `error`: JSON text. */
export type MessageRow = Omit<Message, "error"> & { readonly error: string | null };

export function conversationOf({ metadata, ...row }: ConversationRow): Conversation {
  return { ...row, metadata: JSON.parse(metadata) as Conversation["metadata"] };
}

export function messageOf({ error, ...row }: MessageRow): Message {
  return { ...row, error: error === null ? null : (JSON.parse(error) as MessageError) };
}

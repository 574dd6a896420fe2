import type { FinishReason } from "../../shared/output.ts";
import type { Page } from "./page.ts";

/** A stored chat. Source: DESIGN §4, row Conversations. */
export interface Conversation {
  readonly id: string;
  readonly accountId: string;
  readonly title: string | null;
  /** The chat Cargo that answers. */
  readonly slug: string;
  readonly systemPrompt: string | null;
  /** Belongs to the client; never interpreted here. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  /** When the conversation or one of its messages last changed. */
  readonly updatedAtMs: number;
}

export const MESSAGE_ROLES = ["user", "assistant"] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];
/** `in_progress`: an answer whose job has not ended. The others say how the job ended; a user's message is `completed`. */
export const MESSAGE_STATES = ["in_progress", "completed", "failed", "cancelled", "timeout"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export interface MessageError {
  readonly code: string;
  readonly message: string;
}

export interface Message {
  readonly id: string;
  readonly conversationId: string;
  readonly role: MessageRole;
  /** Text of the message; for an answer, what was delivered (empty while it is in progress). */
  readonly content: string;
  readonly state: MessageState;
  /** The job that makes, or made, the answer; null for a user's message. */
  readonly jobId: string | null;
  readonly finishReason: FinishReason | null;
  readonly error: MessageError | null;
  readonly createdAtMs: number;
  readonly completedAtMs: number | null;
}

/** A user's message and the answer to it. */
export interface Question {
  readonly conversationId: string;
  readonly userMessageId: string;
  readonly content: string;
  readonly answerId: string;
  /** The last message that the prompt includes; null if there is none. A later message would be missing from the prompt. */
  readonly afterMessageId: string | null;
}

/**
 * The answer that a job makes, stored with the job in one commit. `new`: a question and its answer. `again`: another job takes
 * the place of one that ended without output.
 */
export type AnswerLink =
  | { readonly kind: "new"; readonly question: Question }
  | { readonly kind: "again"; readonly answerId: string; readonly endedJobId: string };

/** How an answer ends. */
export interface AnswerEnding {
  readonly answerId: string;
  readonly jobId: string;
  readonly state: Exclude<MessageState, "in_progress">;
  readonly content: string;
  readonly finishReason: FinishReason | null;
  readonly error: MessageError | null;
  readonly atMs: number;
}

/** An answer that was in progress when the coordinator stopped. */
export interface UnfinishedAnswer {
  readonly accountId: string;
  readonly conversationId: string;
  readonly answerId: string;
  readonly jobId: string;
}

/** Conversations and their messages. Each has at most one answer in progress. `JobStore.submit` stores questions, with their job. */
export interface ConversationStore {
  create(conversation: Conversation): Promise<void>;
  get(conversationId: string): Promise<Conversation | undefined>;
  /** Newest first. */
  list(accountId: string, page: Page): Promise<{ conversations: Conversation[]; total: number }>;
  /** Changes the given fields. @throws {ServiceError} `not_found`, also for another account's conversation. */
  update(
    accountId: string,
    conversationId: string,
    changes: { readonly title?: string | null; readonly metadata?: Conversation["metadata"] },
    atMs: number,
  ): Promise<Conversation>;
  /**
   * Deletes it with all its messages, and begins the removal of what its jobs hold (`ContentStore`), in one commit. False if the account
   * has no such conversation.
   */
  delete(accountId: string, conversationId: string, atMs: number): Promise<boolean>;

  message(messageId: string): Promise<Message | undefined>;
  messages(
    conversationId: string,
    page: Page & { readonly order: "asc" | "desc" },
  ): Promise<{ messages: Message[]; total: number }>;
  /** The newest messages, oldest first: at most `maxCount`, and going back no further than the one that reaches `maxBytes` of UTF-8 in all. */
  history(conversationId: string, maxCount: number, maxBytes: number): Promise<Message[]>;

  /** False if the answer is not in progress by that job: it has ended, or its conversation was deleted. */
  endAnswer(ending: AnswerEnding): Promise<boolean>;
  /**
   * Answers in progress that this coordinator follows, oldest first: those that were asked here, and those of coordinators that are gone,
   * which it takes over. Of several who try, one gets each.
   */
  unfinishedAnswers(): Promise<UnfinishedAnswer[]>;
}

import type { FinishReason } from "../../shared/output.ts";
import { adoptRows } from "./work-division.ts";
import { beginRemoval } from "./jobs/content.ts";
import { assertPage, type Page } from "./steps/page.ts";
import { REFUSALS } from "./refusals.ts";
import { kept, read, write } from "./steps/steps.ts";
import { integer, json, key, nullable, onlyIn, Table, text, written, type RowOf } from "./steps/table.ts";
import { countRows, forUpdate, isOwn } from "./steps/tx.ts";

/** Chats whose messages the coordinator stores. */
export const conversationTable = new Table(
  "conversations",
  {
    id: key("PRIMARY KEY"),
    accountId: key("REFERENCES accounts (id)"),
    title: nullable(written()),
    /** Slug of the chat Cargo that generates the answers. */
    slug: text(),
    systemPrompt: nullable(written()),
    /** Metadata set by the client, which the coordinator never interprets. */
    metadata: json<Readonly<Record<string, string>>>(),
    createdAtMs: integer(),
    /** Time of the latest change of the conversation or of one of its messages. */
    updatedAtMs: integer(),
  },
  { indexes: ["CREATE INDEX conversations_by_account ON conversations (account_id, id)"] },
);

export const MESSAGE_ROLES = ["user", "assistant"] as const;
/** States of messages. `in_progress`: an answer whose job is unfinished. A user's message is always `completed`. */
export const MESSAGE_STATES = ["in_progress", "completed", "failed", "cancelled", "timeout"] as const;
type MessageState = (typeof MESSAGE_STATES)[number];

/** Messages; a conversation has at most one answer in progress. Submitting a job also stores its question. */
export const messageTable = new Table(
  "messages",
  {
    ord: integer({ sqlite: "PRIMARY KEY", postgres: "PRIMARY KEY GENERATED ALWAYS AS IDENTITY" }),
    id: key("UNIQUE"),
    conversationId: key("REFERENCES conversations (id)"),
    role: text<(typeof MESSAGE_ROLES)[number]>("CHECK (role IN ('user', 'assistant'))"),
    /** Text of the message; for an answer, the delivered text (empty while in progress). */
    content: written(),
    state: text<MessageState>("CHECK (state IN ('in_progress', 'completed', 'failed', 'cancelled', 'timeout'))"),
    /** Id of the job that generates the answer; null for a user's message. */
    jobId: nullable(key()),
    finishReason: nullable(text<FinishReason>()),
    error: nullable(json<{ readonly code: string; readonly message: string }>()),
    createdAtMs: integer(),
    completedAtMs: nullable(integer()),
    /** Id of the coordinator that follows an answer in progress and stores its end. */
    keeperId: onlyIn("postgres", key("DEFAULT ''")),
  },
  {
    hasRowid: true,
    indexes: [
      "CREATE INDEX messages_by_conversation ON messages (conversation_id, ord)",
      "CREATE UNIQUE INDEX messages_in_progress ON messages (conversation_id) WHERE state = 'in_progress'",
      "CREATE INDEX messages_by_job ON messages (job_id) WHERE job_id IS NOT NULL",
    ],
  },
);

export type Conversation = RowOf<typeof conversationTable>;
export type Message = Omit<RowOf<typeof messageTable>, "ord" | "keeperId">;

export interface Question {
  readonly conversationId: string;
  readonly userMessageId: string;
  readonly content: string;
  readonly answerId: string;
  /** Last message in the prompt; null if the prompt has no messages. */
  readonly afterMessageId: string | null;
}

export type ConversationChanges = Partial<Pick<Conversation, "title" | "metadata">>;
export type MessagePage = Page & { readonly order: "asc" | "desc" };

/** Message rows to store with a job, in its commit. `again`: the job replaces a job that ended without output. */
export type AnswerLink =
  | { readonly kind: "new"; readonly question: Question }
  | { readonly kind: "again"; readonly answerId: string; readonly endedJobId: string };

export interface AnswerEnding extends Pick<Message, "content" | "finishReason" | "error"> {
  readonly answerId: string;
  readonly jobId: string;
  readonly state: Exclude<MessageState, "in_progress">;
  readonly atMs: number;
}

/** An answer that was in progress when the coordinator stopped. */
interface UnfinishedAnswer extends Pick<Message, "conversationId"> {
  readonly accountId: string;
  readonly answerId: string;
  readonly jobId: string;
}

/** Number of messages per query of a prompt's history. */
const HISTORY_PAGE = 50;

const MESSAGE = `SELECT ${messageTable.columnsBut("ord", "keeperId")} FROM messages`;
const OWN = "id = @id AND account_id = @accountId";

export const conversationSteps = {
  create: write(async (tx, conversation: Conversation): Promise<void> => {
    await conversationTable.insert(tx, conversation);
  }),

  get: read((tx, id: string) =>
    conversationTable.row<Conversation>(tx, `SELECT ${conversationTable.all} FROM conversations WHERE id = @id`, {
      id,
    }),
  ),

  /** Returns a page of an account's conversations, newest first. */
  list: read(async (tx, accountId: string, page: Page) => {
    assertPage(page);
    const from = "FROM conversations WHERE account_id = @accountId";
    const sql = `SELECT ${conversationTable.all} ${from} ORDER BY id DESC LIMIT @limit OFFSET @offset`;
    const conversations = await conversationTable.rows<Conversation>(tx, sql, { accountId, ...page });
    return { conversations, total: await countRows(tx, from, { accountId }) };
  }),

  /** Changes the given fields of a conversation. @throws {ServiceError} `not_found` */
  update: write(
    async (tx, accountId: string, id: string, changes: ConversationChanges, atMs: number): Promise<Conversation> => {
      const sql = `UPDATE conversations SET title = CASE WHEN @setsTitle THEN @title ELSE title END,
        metadata = coalesce(@metadata, metadata), updated_at_ms = @atMs
        WHERE ${OWN} RETURNING ${conversationTable.all}`;
      const values = { accountId, id, ...changes, setsTitle: changes.title !== undefined, atMs };
      const updated = await conversationTable.row(tx, sql, values);
      if (updated === undefined) throw REFUSALS.no_conversation();
      return updated;
    },
  ),

  /**
   * Deletes the conversation and its messages, and starts the removal of its jobs' content (`content.ts`), in one
   * commit. Returns false if the account has no such conversation.
   */
  delete: write(async (tx, accountId: string, id: string, atMs: number) => {
    const found = await tx.one(`SELECT 1 FROM conversations WHERE ${OWN} ${forUpdate(tx)}`, { accountId, id });
    if (found === undefined) return false;
    await tx.run("DELETE FROM messages WHERE conversation_id = @id", { id });
    await tx.run("DELETE FROM conversations WHERE id = @id", { id });
    await beginRemoval(tx, { kind: "conversation", id }, atMs);
    return true;
  }),

  message: read((tx, id: string) => messageTable.row<Message>(tx, `${MESSAGE} WHERE id = @id`, { id })),

  messages: read(async (tx, conversationId: string, { order, ...page }: MessagePage) => {
    assertPage(page);
    const direction = order === "asc" ? "ASC" : "DESC";
    const sql = `${MESSAGE} WHERE conversation_id = @conversationId ORDER BY ord ${direction} LIMIT @limit OFFSET @offset`;
    const messages = await messageTable.rows<Message>(tx, sql, { conversationId, ...page });
    return {
      messages,
      total: await countRows(tx, "FROM messages WHERE conversation_id = @conversationId", { conversationId }),
    };
  }),

  /**
   * Returns the newest messages, oldest first: at most `maxCount`, and none older than the message that reaches
   * `maxBytes`.
   */
  history: read(async (tx, conversationId: string, maxCount: number, maxBytes: number) => {
    const sql = `SELECT ${messageTable.columnsBut("keeperId")} FROM messages
      WHERE conversation_id = @conversationId AND ord < @before ORDER BY ord DESC LIMIT @limit`;
    const newestFirst: Message[] = [];
    let [bytes, before] = [0, Number.MAX_SAFE_INTEGER];
    while (bytes < maxBytes && newestFirst.length < maxCount) {
      const limit = Math.min(HISTORY_PAGE, maxCount - newestFirst.length);
      // oxlint-disable-next-line no-await-in-loop -- Each page determines whether another is needed.
      const page = await messageTable.rows<Message & { ord: number }>(tx, sql, { conversationId, before, limit });
      for (const { ord, ...message } of page) {
        before = ord;
        newestFirst.push(message);
        bytes += Buffer.byteLength(message.content);
        if (bytes >= maxBytes) break;
      }
      if (page.length < limit) break;
    }
    return newestFirst.reverse();
  }),

  /** Ends an answer. Returns false if the job has no answer in progress: it ended, or its conversation was deleted. */
  endAnswer: kept(
    write(async (tx, ending: AnswerEnding) => {
      const sql = `UPDATE messages SET state = @state, content = @content, finish_reason = @finishReason, error = @error,
        completed_at_ms = @atMs WHERE id = @answerId AND job_id = @jobId AND state = 'in_progress'
        RETURNING ${messageTable.columns("conversationId")}`;
      const ended = await messageTable.row<Pick<Message, "conversationId">>(tx, sql, ending);
      if (ended === undefined) return false;
      const touch = "UPDATE conversations SET updated_at_ms = @atMs WHERE id = @conversationId";
      await tx.run(touch, { ...ended, atMs: ending.atMs });
      return true;
    }),
  ),

  /**
   * Adopts answers in progress of dead coordinators. Returns all answers in progress of this coordinator, oldest first.
   */
  unfinishedAnswers: kept(
    read(async (tx) => {
      await adoptRows(tx, "messages", "keeper_id", "state = 'in_progress'");
      const sql = `SELECT account_id AS "accountId", conversation_id AS "conversationId", messages.id AS "answerId",
        job_id AS "jobId" FROM messages JOIN conversations ON conversations.id = conversation_id
        WHERE state = 'in_progress' AND ${isOwn(tx, "keeper_id")} ORDER BY ord`;
      return tx.all<UnfinishedAnswer>(sql);
    }),
  ),
};

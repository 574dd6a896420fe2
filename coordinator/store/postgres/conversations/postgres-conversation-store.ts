import type {
  AnswerEnding,
  Conversation,
  ConversationStore,
  Message,
  MessageError,
  UnfinishedAnswer,
} from "../../conversation-store.ts";
import { assertPage, type Page } from "../../page.ts";
import { REFUSALS } from "../../refusals.ts";
import { isGone } from "../cluster/gone.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";
import { textFromColumn, textToColumn } from "../engine/text.ts";

type ConversationRow = Omit<Conversation, "metadata"> & { readonly metadata: string };
type MessageRow = Omit<Message, "error"> & { readonly error: string | null };

const CONVERSATION = `SELECT id, account_id AS "accountId", title, slug, system_prompt AS "systemPrompt", metadata,
  created_at_ms AS "createdAtMs", updated_at_ms AS "updatedAtMs" FROM conversations`;
const MESSAGE = `SELECT id, conversation_id AS "conversationId", role, content, state, job_id AS "jobId",
  finish_reason AS "finishReason", error, created_at_ms AS "createdAtMs", completed_at_ms AS "completedAtMs" FROM messages`;
/** Messages that are read at once for a prompt. */
const HISTORY_PAGE = 50;

export class PostgresConversationStore implements ConversationStore {
  readonly #db: Database;
  readonly #selfId: string;

  constructor(db: Database, selfId: string) {
    this.#db = db;
    this.#selfId = selfId;
  }

  create(conversation: Conversation): Promise<void> {
    const { id, accountId, title, slug, systemPrompt, metadata, createdAtMs, updatedAtMs } = conversation;
    return this.#db.use(async (session) => {
      await session.run(
        `INSERT INTO conversations (id, account_id, title, slug, system_prompt, metadata, created_at_ms, updated_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [
          id,
          accountId,
          textToColumn(title),
          slug,
          textToColumn(systemPrompt),
          JSON.stringify(metadata),
          createdAtMs,
          updatedAtMs,
        ],
      );
    });
  }

  get(conversationId: string): Promise<Conversation | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<ConversationRow>(`${CONVERSATION} WHERE id = $1`, [conversationId]);
      return row === undefined ? undefined : conversationOf(row);
    });
  }

  async list(accountId: string, page: Page): Promise<{ conversations: Conversation[]; total: number }> {
    assertPage(page);
    return this.#db.use(async (session) => {
      const rows = await session.all<ConversationRow>(
        `${CONVERSATION} WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`,
        [accountId, page.limit, page.offset],
      );
      const total = await countOf(session, "SELECT count(*) FROM conversations WHERE account_id = $1", accountId);
      return { conversations: rows.map(conversationOf), total };
    });
  }

  update(
    accountId: string,
    conversationId: string,
    { title, metadata }: { readonly title?: string | null; readonly metadata?: Conversation["metadata"] },
    atMs: number,
  ): Promise<Conversation> {
    return this.#db.use(async (session) => {
      const row = await session.one<ConversationRow>(
        `UPDATE conversations SET title = CASE WHEN $1 THEN $2 ELSE title END, metadata = coalesce($3, metadata),
           updated_at_ms = $4
         WHERE id = $5 AND account_id = $6
         RETURNING id, account_id AS "accountId", title, slug, system_prompt AS "systemPrompt", metadata,
           created_at_ms AS "createdAtMs", updated_at_ms AS "updatedAtMs"`,
        [
          title !== undefined,
          textToColumn(title ?? null),
          metadata === undefined ? null : JSON.stringify(metadata),
          atMs,
          conversationId,
          accountId,
        ],
      );
      if (row === undefined) throw REFUSALS.no_conversation();
      return conversationOf(row);
    });
  }

  delete(accountId: string, conversationId: string, atMs: number): Promise<boolean> {
    return this.#db.transact(async (session) => {
      const found = await session.one("SELECT 1 FROM conversations WHERE id = $1 AND account_id = $2 FOR UPDATE", [
        conversationId,
        accountId,
      ]);
      if (found === undefined) return false;
      await session.run("DELETE FROM messages WHERE conversation_id = $1", [conversationId]);
      await session.run("DELETE FROM conversations WHERE id = $1", [conversationId]);
      await session.run(
        "INSERT INTO removals (kind, id, at_ms) VALUES ('conversation', $1, $2) ON CONFLICT DO NOTHING",
        [conversationId, atMs],
      );
      return true;
    });
  }

  message(messageId: string): Promise<Message | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<MessageRow>(`${MESSAGE} WHERE id = $1`, [messageId]);
      return row === undefined ? undefined : messageOf(row);
    });
  }

  async messages(
    conversationId: string,
    page: Page & { readonly order: "asc" | "desc" },
  ): Promise<{ messages: Message[]; total: number }> {
    assertPage(page);
    return this.#db.use(async (session) => {
      const rows = await pageOf(session, conversationId, page);
      const total = await countOf(session, "SELECT count(*) FROM messages WHERE conversation_id = $1", conversationId);
      return { messages: rows, total };
    });
  }

  history(conversationId: string, maxCount: number, maxBytes: number): Promise<Message[]> {
    return this.#db.use(async (session) => {
      const newestFirst: Message[] = [];
      let bytes = 0;
      while (bytes < maxBytes && newestFirst.length < maxCount) {
        const limit = Math.min(HISTORY_PAGE, maxCount - newestFirst.length);
        // oxlint-disable-next-line no-await-in-loop -- Each page says whether another is needed.
        const page = await pageOf(session, conversationId, { order: "desc", limit, offset: newestFirst.length });
        for (const message of page) {
          newestFirst.push(message);
          bytes += Buffer.byteLength(message.content);
          if (bytes >= maxBytes) break;
        }
        if (page.length < limit) break;
      }
      return newestFirst.reverse();
    });
  }

  endAnswer({ answerId, jobId, state, content, finishReason, error, atMs }: AnswerEnding): Promise<boolean> {
    return this.#db.untilDone(async (session) => {
      const ended = await session.run(
        `WITH ended AS (
           UPDATE messages SET state = $1, content = $2, finish_reason = $3, error = $4, completed_at_ms = $5
           WHERE id = $6 AND job_id = $7 AND state = 'in_progress' RETURNING conversation_id)
         UPDATE conversations SET updated_at_ms = $5 FROM ended WHERE id = conversation_id`,
        [
          state,
          textToColumn(content),
          finishReason,
          error === null ? null : JSON.stringify(error),
          atMs,
          answerId,
          jobId,
        ],
      );
      return ended === 1;
    });
  }

  unfinishedAnswers(): Promise<UnfinishedAnswer[]> {
    return this.#db.untilDone(async (session) => {
      // Named, as a condition on another table is not looked at again for a row that somebody else has just changed.
      const gone = await session.all<{ id: string }>(
        `SELECT DISTINCT keeper_id AS id FROM messages WHERE state = 'in_progress' AND keeper_id <> $1 AND ${isGone("keeper_id")}`,
        [this.#selfId],
      );
      if (gone.length > 0) {
        await session.run(
          `UPDATE messages SET keeper_id = $1 WHERE id = ANY (ARRAY(
             SELECT id FROM messages WHERE state = 'in_progress' AND keeper_id = ANY ($2)
             ORDER BY id FOR UPDATE SKIP LOCKED))`,
          [this.#selfId, gone.map(({ id }) => id)],
        );
      }
      return session.all<UnfinishedAnswer>(
        `SELECT account_id AS "accountId", conversation_id AS "conversationId", messages.id AS "answerId", job_id AS "jobId"
         FROM messages JOIN conversations ON conversations.id = conversation_id
         WHERE state = 'in_progress' AND keeper_id = $1 ORDER BY ord`,
        [this.#selfId],
      );
    });
  }
}

async function pageOf(
  session: Session,
  conversationId: string,
  { order, limit, offset }: Page & { readonly order: "asc" | "desc" },
): Promise<Message[]> {
  const direction = order === "asc" ? "ASC" : "DESC";
  const rows = await session.all<MessageRow>(
    `${MESSAGE} WHERE conversation_id = $1 ORDER BY ord ${direction} LIMIT $2 OFFSET $3`,
    [conversationId, limit, offset],
  );
  return rows.map(messageOf);
}

async function countOf(session: Session, sql: string, id: string): Promise<number> {
  return (await session.one<{ count: number }>(sql, [id]))?.count ?? 0;
}

function conversationOf({ title, systemPrompt, metadata, ...row }: ConversationRow): Conversation {
  return {
    ...row,
    title: textFromColumn(title),
    systemPrompt: textFromColumn(systemPrompt),
    metadata: JSON.parse(metadata) as Conversation["metadata"],
  };
}

function messageOf({ content, error, ...row }: MessageRow): Message {
  return {
    ...row,
    content: textFromColumn(content),
    error: error === null ? null : (JSON.parse(error) as MessageError),
  };
}

import type Database from "better-sqlite3";
import type {
  AnswerEnding,
  Conversation,
  ConversationStore,
  Message,
  UnfinishedAnswer,
} from "../../conversation-store.ts";
import { assertPage, type Page } from "../../page.ts";
import { REFUSALS } from "../../refusals.ts";
import {
  CONVERSATION_COLUMNS,
  conversationOf,
  MESSAGE_COLUMNS,
  messageOf,
  type ConversationRow,
  type MessageRow,
} from "./conversation-rows.ts";
import type { Writer } from "../engine/writer.ts";

type PageOf = [id: string, limit: number, offset: number];

export class SqliteConversationStore implements ConversationStore {
  readonly #writer: Writer;
  readonly #select: Database.Statement<[string], ConversationRow>;
  readonly #selectPage: Database.Statement<PageOf, ConversationRow>;
  readonly #count: Database.Statement<[string], number>;
  readonly #selectMessage: Database.Statement<[string], MessageRow>;
  readonly #selectMessages: Readonly<Record<"asc" | "desc", Database.Statement<PageOf, MessageRow>>>;
  readonly #countMessages: Database.Statement<[string], number>;
  readonly #selectUnfinished: Database.Statement<[], UnfinishedAnswer>;

  constructor(db: Database.Database, writer: Writer) {
    this.#writer = writer;
    const conversations = `SELECT ${CONVERSATION_COLUMNS} FROM conversations`;
    this.#select = db.prepare(`${conversations} WHERE id = ?`);
    this.#selectPage = db.prepare(`${conversations} WHERE account_id = ? ORDER BY id DESC LIMIT ? OFFSET ?`);
    this.#count = db.prepare<[string], number>("SELECT count(*) FROM conversations WHERE account_id = ?").pluck();
    const messages = `SELECT ${MESSAGE_COLUMNS} FROM messages`;
    this.#selectMessage = db.prepare(`${messages} WHERE id = ?`);
    this.#selectMessages = {
      asc: db.prepare(`${messages} WHERE conversation_id = ? ORDER BY ord LIMIT ? OFFSET ?`),
      desc: db.prepare(`${messages} WHERE conversation_id = ? ORDER BY ord DESC LIMIT ? OFFSET ?`),
    };
    this.#countMessages = db
      .prepare<[string], number>("SELECT count(*) FROM messages WHERE conversation_id = ?")
      .pluck();
    this.#selectUnfinished = db.prepare(
      `SELECT account_id AS accountId, conversation_id AS conversationId, messages.id AS answerId, job_id AS jobId
       FROM messages JOIN conversations ON conversations.id = conversation_id WHERE state = 'in_progress' ORDER BY ord`,
    );
  }

  create({ metadata, ...conversation }: Conversation): Promise<void> {
    return this.#writer.run("createConversation", { ...conversation, metadata: JSON.stringify(metadata) });
  }

  async get(conversationId: string): Promise<Conversation | undefined> {
    const row = this.#select.get(conversationId);
    return row === undefined ? undefined : conversationOf(row);
  }

  async list(accountId: string, page: Page): Promise<{ conversations: Conversation[]; total: number }> {
    assertPage(page);
    const rows = this.#selectPage.all(accountId, page.limit, page.offset);
    return { conversations: rows.map(conversationOf), total: this.#count.get(accountId) ?? 0 };
  }

  async update(
    accountId: string,
    conversationId: string,
    { title, metadata }: { readonly title?: string | null; readonly metadata?: Conversation["metadata"] },
    atMs: number,
  ): Promise<Conversation> {
    await this.#writer.run("updateConversation", {
      accountId,
      id: conversationId,
      ...(title === undefined ? {} : { title }),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      atMs,
    });
    const updated = await this.get(conversationId);
    if (updated === undefined) throw REFUSALS.no_conversation();
    return updated;
  }

  delete(accountId: string, conversationId: string, atMs: number): Promise<boolean> {
    return this.#writer.run("deleteConversation", { accountId, id: conversationId, atMs });
  }

  async message(messageId: string): Promise<Message | undefined> {
    const row = this.#selectMessage.get(messageId);
    return row === undefined ? undefined : messageOf(row);
  }

  async messages(
    conversationId: string,
    page: Page & { readonly order: "asc" | "desc" },
  ): Promise<{ messages: Message[]; total: number }> {
    assertPage(page);
    const rows = this.#selectMessages[page.order].all(conversationId, page.limit, page.offset);
    return { messages: rows.map(messageOf), total: this.#countMessages.get(conversationId) ?? 0 };
  }

  async history(conversationId: string, maxCount: number, maxBytes: number): Promise<Message[]> {
    const newestFirst: Message[] = [];
    let bytes = 0;
    for (const row of this.#selectMessages.desc.iterate(conversationId, maxCount, 0)) {
      newestFirst.push(messageOf(row));
      bytes += Buffer.byteLength(row.content);
      if (bytes >= maxBytes) break;
    }
    return newestFirst.reverse();
  }

  endAnswer({ error, ...ending }: AnswerEnding): Promise<boolean> {
    return this.#writer.run("endAnswer", { ...ending, error: error === null ? null : JSON.stringify(error) });
  }

  async unfinishedAnswers(): Promise<UnfinishedAnswer[]> {
    return this.#selectUnfinished.all();
  }
}

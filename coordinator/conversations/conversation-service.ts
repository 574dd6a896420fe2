import { DEFAULT_OUTPUT_TOKENS, MAX_INPUT_BYTES } from "../../shared/chat-input.ts";
import { ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import type { Conversation, Message } from "../store/conversation-store.ts";
import type { JobInput } from "../store/job-store.ts";
import { AnswerDesk, withDelivered, type AnswerDeskDeps } from "./answer-desk.ts";
import { fitHistory, MAX_HISTORY_MESSAGES } from "./fit-history.ts";
import { LiveAnswer } from "./live-answer.ts";

export interface ConversationServiceDeps extends AnswerDeskDeps {
  readonly catalog: Catalog;
}

export interface NewConversation {
  readonly title: string | null;
  /** Null: the operator's default chat Cargo. */
  readonly slug: string | null;
  readonly systemPrompt: string | null;
  readonly metadata: Conversation["metadata"];
}

export interface MessagePage {
  readonly limit: number;
  readonly offset: number;
  readonly order: "asc" | "desc";
}

/** A question that was taken: its message, and the answer in progress. */
export interface Asked {
  readonly question: Message;
  readonly answer: LiveAnswer;
}

/** Stored chats of accounts. Another account's conversation does not exist for them. README.md tells the rules. */
export class ConversationService {
  readonly #deps: ConversationServiceDeps;
  readonly #desk: AnswerDesk;

  constructor(deps: ConversationServiceDeps) {
    this.#deps = deps;
    this.#desk = new AnswerDesk(deps);
  }

  /** Takes up the answers in progress after a restart; resolves with their number. */
  resume(): Promise<number> {
    return this.#desk.resume();
  }

  /** To be called before clients are cut off: what they wait for is not cancelled, but taken up at the next start. */
  close(): void {
    this.#desk.close();
  }

  /** @throws {ServiceError} `cargo_not_found` for a model that does not chat. */
  async create(accountId: string, { slug, ...rest }: NewConversation): Promise<Conversation> {
    const { slug: model } = this.#chatCargo(slug ?? this.#deps.catalog.defaultChatSlug, accountId);
    const atMs = this.#deps.clock.now();
    const id = newId("conv", atMs);
    const conversation = { id, accountId, slug: model, ...rest, createdAtMs: atMs, updatedAtMs: atMs };
    await this.#deps.store.create(conversation);
    return conversation;
  }

  /** @throws {ServiceError} `not_found` */
  async get(accountId: string, conversationId: string): Promise<Conversation> {
    const conversation = await this.#deps.store.get(conversationId);
    if (conversation === undefined || conversation.accountId !== accountId) throw notFound(conversationId);
    return conversation;
  }

  /** Newest first. */
  list(
    accountId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ conversations: Conversation[]; total: number }> {
    return this.#deps.store.list(accountId, page);
  }

  /** @throws {ServiceError} `not_found` */
  async update(
    accountId: string,
    conversationId: string,
    changes: { readonly title?: string | null; readonly metadata?: Conversation["metadata"] },
  ): Promise<Conversation> {
    await this.get(accountId, conversationId);
    return this.#deps.store.update(accountId, conversationId, changes, this.#deps.clock.now());
  }

  /** Cancels the answer in progress, if there is one. Its jobs remain. @throws {ServiceError} `not_found` */
  async delete(accountId: string, conversationId: string): Promise<void> {
    const wasDeleted = await this.#deps.store.delete(accountId, conversationId);
    if (!wasDeleted) throw notFound(conversationId);
    const answer = this.#desk.find(conversationId);
    if (answer !== undefined) this.#desk.abandon(answer);
  }

  /** A conversation's messages, an answer in progress with what was delivered so far. @throws {ServiceError} `not_found` */
  async read(
    accountId: string,
    conversationId: string,
    page: MessagePage,
  ): Promise<{ conversation: Conversation; messages: Message[]; total: number }> {
    await this.get(accountId, conversationId);
    await this.#desk.settled(conversationId);
    const conversation = await this.get(accountId, conversationId);
    const { messages, total } = await this.#deps.store.messages(conversationId, page);
    const live = this.#desk.find(conversationId);
    return { conversation, messages: messages.map((message) => withDelivered(message, live)), total };
  }

  /** An answer that has ended, as it is stored; undefined when its conversation was deleted. */
  answer(answerId: string): Promise<Message | undefined> {
    return this.#deps.store.message(answerId);
  }

  /**
   * Stores a question and begins its answer. `sampling`: fields of a chat job's input other than messages.
   * @throws {ServiceError} `not_found`, `conversation_busy`, `cargo_not_found`, and all that submitting a job can; then nothing
   * is stored.
   */
  async ask(accountId: string, conversationId: string, content: string, sampling: JobInput): Promise<Asked> {
    const { store, clock } = this.#deps;
    const { slug, systemPrompt } = await this.get(accountId, conversationId);
    await this.#desk.settled(conversationId);
    const { contextTokens } = this.#chatCargo(slug, accountId);
    const history = await store.history(conversationId, MAX_HISTORY_MESSAGES, MAX_INPUT_BYTES);
    const { max_tokens: asked } = sampling;
    const maxTokens = typeof asked === "number" ? asked : DEFAULT_OUTPUT_TOKENS;
    const messages = fitHistory(systemPrompt, history, content, {
      contextTokens,
      maxTokens,
      otherFields: sampling,
    });
    const atMs = clock.now();
    const [userMessageId, answerId] = [newId("msg", atMs), newId("msg", atMs)];
    const afterMessageId = history.at(-1)?.id ?? null;
    const job = await this.#desk.submit({ accountId, slug, input: { messages, ...sampling } }, (newJob) =>
      store.ask({ conversationId, userMessageId, content, answerId, afterMessageId }, newJob),
    );
    const answer = new LiveAnswer({ accountId, conversationId, answerId }, job);
    this.#desk.follow(answer);
    const question = await store.message(userMessageId);
    if (question !== undefined) return { question, answer };
    // Deleted as soon as it was stored, before the desk knew what to cancel.
    this.#desk.abandon(answer);
    throw notFound(conversationId);
  }

  /** Stops the work at an answer that nobody waits for. */
  abandon(answer: LiveAnswer): void {
    this.#desk.abandon(answer);
  }

  #chatCargo(slug: string, accountId: string): CatalogEntry {
    const cargo = this.#deps.catalog.find(slug, accountId);
    if (cargo?.isChat === true) return cargo;
    throw new ServiceError("cargo_not_found", `There is no chat Cargo "${slug}"`);
  }
}

function notFound(conversationId: string): ServiceError {
  return new ServiceError("not_found", `There is no conversation "${conversationId}"`);
}

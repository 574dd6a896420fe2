import { DEFAULT_OUTPUT_TOKENS, MAX_INPUT_BYTES } from "../../shared/chat-input.ts";
import { ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { findModelFor } from "../catalog/find-model.ts";
import type { Env } from "../env.ts";
import type { JobApi } from "../jobs/job-service.ts";
import type { Conversation, Message } from "../store/conversations.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { UsedKey } from "../store/accounts/key-spending.ts";
import type { Store } from "../store/store.ts";
import type { AnswerView } from "./active-answer.ts";
import { answerTracker } from "./answer-tracker.ts";
import { fitHistory, MAX_HISTORY_MESSAGES } from "./fit-history.ts";

/** An accepted question: its message, and the answer in progress. */
export interface Asked {
  readonly question: Message;
  readonly answer: AnswerView;
}

export type Conversations = ReturnType<typeof openConversations>;

/**
 * Manages the stored chats of accounts. Conversations of other accounts are not found. README.md has the rules.
 * @param removeContent Removes prompts and answers of the jobs of a deleted conversation.
 */
export function openConversations(
  env: Omit<Env<"chatWaitMs">, "version">,
  store: Store["conversations"],
  jobs: JobApi,
  catalog: Catalog,
  removeContent: (conversationId: string) => Promise<void>,
) {
  const { clock } = env;
  const answers = answerTracker(env, store, jobs);

  const conversations = {
    /** Resumes the answers in progress after a restart. Resolves with their number. */
    resume(): Promise<number> {
      return answers.resume();
    },

    /**
     * Must be called before the connections close: answers in progress are then resumed at the next start, not
     * cancelled.
     */
    close(): void {
      answers.close();
    },

    /**
     * Creates a conversation. `slug`: null for the operator's default chat Cargo. @throws {ServiceError}
     * `cargo_not_found` for a model without chat.
     */
    async create(
      accountId: string,
      { slug, ...rest }: Pick<Conversation, "title" | "systemPrompt" | "metadata"> & { readonly slug: string | null },
    ): Promise<Conversation> {
      const { slug: model } = await findModelFor("chat", catalog, slug, accountId);
      const atMs = clock.now();
      const id = newId("conv", atMs);
      const conversation = { id, accountId, slug: model, ...rest, createdAtMs: atMs, updatedAtMs: atMs };
      await store.create(conversation);
      return conversation;
    },

    /** @throws {ServiceError} `not_found` */
    async get(accountId: string, conversationId: string): Promise<Conversation> {
      const conversation = await store.get(conversationId);
      if (conversation === undefined || conversation.accountId !== accountId) throw notFound(conversationId);
      return conversation;
    },

    /** Lists conversations, newest first. */
    list(
      accountId: string,
      page: { readonly limit: number; readonly offset: number },
    ): Promise<{ conversations: Conversation[]; total: number }> {
      return store.list(accountId, page);
    },

    /** @throws {ServiceError} `not_found` */
    async update(
      accountId: string,
      conversationId: string,
      changes: { readonly title?: string | null; readonly metadata?: Conversation["metadata"] },
    ): Promise<Conversation> {
      await conversations.get(accountId, conversationId);
      return store.update(accountId, conversationId, changes, clock.now());
    },

    /**
     * Deletes a conversation and cancels its answer in progress. Its jobs stay without prompt and answer. @throws
     * {ServiceError} `not_found`
     */
    async delete(accountId: string, conversationId: string): Promise<void> {
      const jobElsewhere = await answers.jobElsewhere(conversationId);
      const wasDeleted = await store.delete(accountId, conversationId, clock.now());
      if (!wasDeleted) throw notFound(conversationId);
      const answer = answers.find(conversationId);
      if (answer !== undefined) await answers.abandon(answer);
      if (jobElsewhere !== undefined) await answers.cancelJob(accountId, jobElsewhere);
      await removeContent(conversationId);
    },

    /**
     * Returns a conversation's messages. An answer in progress has the text delivered so far. @throws {ServiceError}
     * `not_found`
     */
    async read(
      accountId: string,
      conversationId: string,
      page: Parameters<typeof store.messages>[1],
    ): Promise<{ conversation: Conversation; messages: Message[]; total: number }> {
      await conversations.get(accountId, conversationId);
      await answers.settled(conversationId);
      const conversation = await conversations.get(accountId, conversationId);
      const { messages, total } = await store.messages(conversationId, page);
      const delivered = messages.map((message) => answers.withDelivered(accountId, message));
      return { conversation, messages: await Promise.all(delivered), total };
    },

    /** Returns an ended answer as it is stored; undefined if its conversation was deleted. */
    answer(answerId: string): Promise<Message | undefined> {
      return store.message(answerId);
    },

    /**
     * Stores a question and begins its answer.
     * @param sampling Fields of a chat job's input other than `messages`.
     * @param apiKey API key of the request; null for a session.
     * @throws {ServiceError} `not_found`, `conversation_busy`, `cargo_not_found`, and the errors of submitting a job.
     * Nothing is stored then.
     */
    async ask(
      accountId: string,
      conversationId: string,
      content: string,
      sampling: JobInput,
      apiKey: UsedKey | null = null,
    ): Promise<Asked> {
      const { slug, systemPrompt } = await conversations.get(accountId, conversationId);
      await answers.settled(conversationId);
      const { contextTokens } = await findModelFor("chat", catalog, slug, accountId);
      const history = await store.history(conversationId, MAX_HISTORY_MESSAGES, MAX_INPUT_BYTES);
      const { max_tokens: asked } = sampling;
      const maxTokens = typeof asked === "number" ? asked : DEFAULT_OUTPUT_TOKENS;
      const messages = fitHistory(systemPrompt, history, content, {
        contextTokens,
        maxTokens,
        otherFields: sampling,
      });
      const atMs = clock.now();
      const userMessageId = newId("msg", atMs);
      const answerId = newId("msg", atMs);
      const afterMessageId = history.at(-1)?.id ?? null;
      const stored = { conversationId, userMessageId, content, answerId, afterMessageId };
      const answer = await answers.begin(
        { accountId, conversationId, answerId },
        { accountId, apiKey, slug, input: { messages, ...sampling }, answer: { kind: "new", question: stored } },
      );
      const question = await store.message(userMessageId);
      if (question !== undefined) return { question, answer };
      // The conversation was deleted right after the commit, before the tracker had a job to cancel.
      await answers.abandon(answer);
      await removeContent(conversationId);
      throw notFound(conversationId);
    },

    /** Stops the work on an answer after its client disconnected. */
    abandon(answer: AnswerView): void {
      void answers.abandon(answer);
    },
  };
  return conversations;
}

function notFound(conversationId: string): ServiceError {
  return new ServiceError("not_found", `There is no conversation "${conversationId}"`);
}

import { DEFAULT_OUTPUT_TOKENS, MAX_INPUT_BYTES } from "../../shared/chat-input.ts";
import { ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { findModelFor } from "../catalog/find-model.ts";
import type { Env } from "../env.ts";
import type { JobApi } from "../jobs/job-service.ts";
import type { Conversation, ConversationChanges, Message, MessagePage } from "../store/conversations.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { UsedKey } from "../store/accounts/key-spending.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import type { AnswerView } from "./active-answer.ts";
import { answerTracker } from "./answer-tracker.ts";
import { fitHistory, MAX_HISTORY_MESSAGES } from "./fit-history.ts";

export interface AcceptedQuestion {
  readonly question: Message;
  readonly answer: AnswerView;
}

export type Conversations = ReturnType<typeof openConversations>;

/** Opens the stored chats of accounts; README.md has the rules. */
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
    resume: () => answers.resume(),

    /**
     * Stops abandoning answers. Must be called before connections close, so that the next start resumes the answers.
     */
    close: () => answers.close(),

    /** Creates a conversation. `slug`: null for the default chat Cargo. @throws {ServiceError} `cargo_not_found` */
    async create(
      accountId: string,
      { slug, ...rest }: Pick<Conversation, "title" | "systemPrompt" | "metadata"> & { readonly slug: string | null },
    ): Promise<Conversation> {
      const { slug: model } = await findModelFor("chat", catalog, slug, accountId);
      const createdAtMs = clock.now();
      const id = newId("conv", createdAtMs);
      const conversation = { id, accountId, slug: model, ...rest, createdAtMs, updatedAtMs: createdAtMs };
      await store.create(conversation);
      return conversation;
    },

    /** Returns a conversation of the account. @throws {ServiceError} `not_found` */
    async get(accountId: string, conversationId: string): Promise<Conversation> {
      const conversation = await store.get(conversationId);
      if (conversation === undefined || conversation.accountId !== accountId) throw notFound(conversationId);
      return conversation;
    },

    /** Returns a page of conversations, newest first. */
    list: (accountId: string, page: Page) => store.list(accountId, page),

    /** Changes the title or metadata. @throws {ServiceError} `not_found` */
    async update(accountId: string, conversationId: string, changes: ConversationChanges): Promise<Conversation> {
      await conversations.get(accountId, conversationId);
      return store.update(accountId, conversationId, changes, clock.now());
    },

    /**
     * Deletes a conversation and cancels its answer in progress. The jobs stay, without content.
     * @throws {ServiceError} `not_found`
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

    /** Returns a page of messages; an answer in progress has the text so far. @throws {ServiceError} `not_found` */
    async read(
      accountId: string,
      conversationId: string,
      page: MessagePage,
    ): Promise<{ conversation: Conversation; messages: Message[]; total: number }> {
      await conversations.get(accountId, conversationId);
      await answers.settled(conversationId);
      const conversation = await conversations.get(accountId, conversationId);
      const { messages, total } = await store.messages(conversationId, page);
      const delivered = messages.map((message) => answers.withDelivered(accountId, message));
      return { conversation, messages: await Promise.all(delivered), total };
    },

    /** Returns a stored answer; undefined if its conversation was deleted. */
    answer: (answerId: string) => store.message(answerId),

    /**
     * Stores a question and starts its answer.
     * @throws {ServiceError} `not_found`, `conversation_busy`, `cargo_not_found`, and the errors of submitting a job
     */
    async ask(
      accountId: string,
      conversationId: string,
      content: string,
      sampling: JobInput,
      apiKey: UsedKey | null = null,
    ): Promise<AcceptedQuestion> {
      const { slug, systemPrompt } = await conversations.get(accountId, conversationId);
      await answers.settled(conversationId);
      const { contextTokens } = await findModelFor("chat", catalog, slug, accountId);
      const history = await store.history(conversationId, MAX_HISTORY_MESSAGES, MAX_INPUT_BYTES);
      const { max_tokens: requested } = sampling;
      const maxTokens = typeof requested === "number" ? requested : DEFAULT_OUTPUT_TOKENS;
      const limits = { contextTokens, maxTokens, otherFields: sampling };
      const messages = fitHistory(systemPrompt, history, content, limits);
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
    abandon: (answer: AnswerView): void => void answers.abandon(answer),
  };
  return conversations;
}

function notFound(conversationId: string): ServiceError {
  return new ServiceError("not_found", `There is no conversation "${conversationId}"`);
}

import { expect } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import type { AnswerEnding, Conversation, Question } from "../../../../coordinator/store/conversations.ts";
import type { NewJob } from "../../../../coordinator/store/jobs/job-store.ts";
import type { JobStore } from "../../../../coordinator/store/jobs/jobs.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { balanceOf, type Check, MADE_AT_MS, makeAccount, makeJob } from "./store-builders.ts";

function makeConversation(accountId: string, override: Partial<Conversation> = {}): Conversation {
  return {
    id: newId("conv", MADE_AT_MS),
    accountId,
    title: null,
    slug: "tiny-chat",
    systemPrompt: null,
    metadata: {},
    createdAtMs: MADE_AT_MS,
    updatedAtMs: MADE_AT_MS,
    ...override,
  };
}

function makeQuestion(conversationId: string, override: Partial<Question> = {}): Question {
  return {
    conversationId,
    userMessageId: newId("msg", MADE_AT_MS),
    content: "Hi",
    answerId: newId("msg", MADE_AT_MS),
    afterMessageId: null,
    ...override,
  };
}

function makeAnswerEnding(answerId: string, jobId: string, override: Partial<AnswerEnding> = {}): AnswerEnding {
  return {
    answerId,
    jobId,
    state: "completed",
    content: "Hello",
    finishReason: "stop",
    error: null,
    atMs: MADE_AT_MS + 9_000,
    ...override,
  };
}

function ask(store: Store, question: Question, job: NewJob): ReturnType<JobStore["submit"]> {
  return store.jobs.submit({ ...job, answer: { kind: "new", question } });
}

function askAgain(store: Store, answerId: string, endedJobId: string, job: NewJob): ReturnType<JobStore["submit"]> {
  return store.jobs.submit({ ...job, answer: { kind: "again", answerId, endedJobId } });
}

/** Creates an account with a conversation of one question in progress. */
async function makeAsked(store: Store) {
  const accountId = await makeAccount(store);
  const conversation = makeConversation(accountId);
  await store.conversations.create(conversation);
  const question = makeQuestion(conversation.id);
  const job = makeJob(accountId);
  await ask(store, question, job);
  return { accountId, conversation, question, job };
}

const PAGE = { limit: 100, offset: 0, order: "asc" } as const;

export function describeConversations(check: Check): void {
  check("conversations.list() returns the account's own conversations in pages, newest first", async (store) => {
    const accountId = await makeAccount(store);
    const made = [makeConversation(accountId, { title: "Ä", metadata: { a: "b" } }), makeConversation(accountId)];
    for (const each of made) await store.conversations.create(each);
    await store.conversations.create(makeConversation(await makeAccount(store)));
    const [older, newer] = made;
    expect(await store.conversations.list(accountId, { limit: 1, offset: 0 })).toEqual({
      conversations: [newer],
      total: 2,
    });
    expect((await store.conversations.list(accountId, { limit: 1, offset: 1 })).conversations).toEqual([older]);
    expect(await store.conversations.get(older?.id ?? "")).toEqual(older);
    expect(await store.conversations.get("conv_none")).toBeUndefined();
  });

  check("conversations.update() changes only the given fields, and only for the owner", async (store) => {
    const { accountId, conversation } = await makeAsked(store);
    const update = (...args: Parameters<Store["conversations"]["update"]>) => store.conversations.update(...args);
    const changed = await update(accountId, conversation.id, { title: "T" }, 5);
    expect(changed).toMatchObject({ title: "T", metadata: {}, updatedAtMs: 5 });
    const again = await update(accountId, conversation.id, { metadata: { k: "v" } }, 6);
    expect(again).toMatchObject({ title: "T", metadata: { k: "v" } });
    expect(await update(accountId, conversation.id, { title: null }, 7)).toMatchObject({
      title: null,
      metadata: { k: "v" },
    });
    const other = await makeAccount(store);
    await expect(store.conversations.update(other, conversation.id, { title: "X" }, 8)).rejects.toMatchObject({
      code: "not_found",
    });
  });

  check("jobs.submit() of a question stores question, answer in progress and job in one commit", async (store) => {
    const { accountId, conversation, question, job } = await makeAsked(store);
    const { messages, total } = await store.conversations.messages(conversation.id, PAGE);
    expect(total).toBe(2);
    expect(messages).toEqual([
      {
        id: question.userMessageId,
        conversationId: conversation.id,
        role: "user",
        content: "Hi",
        state: "completed",
        jobId: null,
        finishReason: null,
        error: null,
        createdAtMs: MADE_AT_MS,
        completedAtMs: MADE_AT_MS,
      },
      {
        id: question.answerId,
        conversationId: conversation.id,
        role: "assistant",
        content: "",
        state: "in_progress",
        jobId: job.id,
        finishReason: null,
        error: null,
        createdAtMs: MADE_AT_MS,
        completedAtMs: null,
      },
    ]);
    expect((await store.jobs.get(job.id))?.state).toBe("pending");
    expect(await balanceOf(store, accountId)).toBe(9_000_000);
    expect(await store.conversations.unfinishedAnswers()).toEqual([
      { accountId, conversationId: conversation.id, answerId: question.answerId, jobId: job.id },
    ]);
  });

  check("jobs.submit() of a question is refused during an answer, and stores nothing", async (store) => {
    const { accountId, conversation, question } = await makeAsked(store);
    const second = makeJob(accountId);
    const asked = ask(store, makeQuestion(conversation.id, { afterMessageId: question.answerId }), second);
    await expect(asked).rejects.toMatchObject({ code: "conversation_busy" });
    expect(await store.jobs.get(second.id)).toBeUndefined();
    expect(await balanceOf(store, accountId)).toBe(9_000_000);
    expect((await store.conversations.messages(conversation.id, PAGE)).total).toBe(2);
  });

  check("jobs.submit() of two concurrent questions accepts exactly one", async (store) => {
    const accountId = await makeAccount(store);
    const conversation = makeConversation(accountId);
    await store.conversations.create(conversation);
    const results = await Promise.allSettled(
      ["a", "b"].map((content) => ask(store, makeQuestion(conversation.id, { content }), makeJob(accountId))),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await balanceOf(store, accountId)).toBe(9_000_000);
  });

  check("jobs.submit() of a question is refused after a message that its prompt does not include", async (store) => {
    const { accountId, conversation, question, job } = await makeAsked(store);
    await store.conversations.endAnswer(makeAnswerEnding(question.answerId, job.id));
    const stale = ask(store, makeQuestion(conversation.id), makeJob(accountId));
    await expect(stale).rejects.toMatchObject({ code: "conversation_busy" });
    await ask(store, makeQuestion(conversation.id, { afterMessageId: question.answerId }), makeJob(accountId));
  });

  check("jobs.submit() of a question without credits, or of another account, stores nothing", async (store) => {
    const { conversation } = await makeAsked(store);
    const poor = await makeAccount(store, { grantMicro: 0 });
    const own = makeConversation(poor);
    await store.conversations.create(own);
    await expect(ask(store, makeQuestion(own.id), makeJob(poor))).rejects.toMatchObject({
      code: "insufficient_credits",
    });
    expect((await store.conversations.messages(own.id, PAGE)).total).toBe(0);
    await expect(ask(store, makeQuestion(conversation.id), makeJob(poor))).rejects.toMatchObject({
      code: "not_found",
    });
  });

  check("conversations.endAnswer() ends an answer once, for its current job only", async (store) => {
    const { conversation, question, job } = await makeAsked(store);
    expect(await store.conversations.endAnswer(makeAnswerEnding(question.answerId, "job_other"))).toBe(false);
    const error = { code: "run_timeout", message: "too long" };
    const ending = makeAnswerEnding(question.answerId, job.id, { state: "timeout", error, finishReason: null });
    expect(await store.conversations.endAnswer(ending)).toBe(true);
    expect(await store.conversations.endAnswer({ ...ending, content: "again" })).toBe(false);
    expect(await store.conversations.message(question.answerId)).toMatchObject({
      state: "timeout",
      content: "Hello",
      error,
      completedAtMs: MADE_AT_MS + 9_000,
    });
    expect(await store.conversations.get(conversation.id)).toMatchObject({ updatedAtMs: MADE_AT_MS + 9_000 });
    expect(await store.conversations.unfinishedAnswers()).toEqual([]);
  });

  check("jobs.submit() with an answer to repeat replaces its ended job", async (store) => {
    const { accountId, question, job } = await makeAsked(store);
    const next = makeJob(accountId);
    await askAgain(store, question.answerId, job.id, next);
    expect(await store.conversations.message(question.answerId)).toMatchObject({
      jobId: next.id,
      state: "in_progress",
    });
    const stale = askAgain(store, question.answerId, job.id, makeJob(accountId));
    await expect(stale).rejects.toMatchObject({ code: "not_found" });
    expect(await store.conversations.endAnswer(makeAnswerEnding(question.answerId, job.id))).toBe(false);
  });

  check("conversations.history() returns the newest messages in order, limited by count and bytes", async (store) => {
    const { accountId, conversation, question, job } = await makeAsked(store);
    await store.conversations.endAnswer(makeAnswerEnding(question.answerId, job.id, { content: "ääää" }));
    const later = makeQuestion(conversation.id, { content: "and?", afterMessageId: question.answerId });
    await ask(store, later, makeJob(accountId));
    const contents = async (maxCount: number, maxBytes: number) =>
      (await store.conversations.history(conversation.id, maxCount, maxBytes)).map(({ content }) => content);
    expect(await contents(10, 1_000)).toEqual(["Hi", "ääää", "and?", ""]);
    expect(await contents(3, 1_000)).toEqual(["ääää", "and?", ""]);
    expect(await contents(10, 12)).toEqual(["ääää", "and?", ""]);
    expect(await contents(10, 13)).toEqual(["Hi", "ääää", "and?", ""]);
  });

  check("conversations.delete() also deletes the messages, and only for the owner", async (store) => {
    const { accountId, conversation, question, job } = await makeAsked(store);
    expect(await store.conversations.delete(await makeAccount(store), conversation.id, 9)).toBe(false);
    expect(await store.conversations.delete(accountId, conversation.id, 9)).toBe(true);
    expect(await store.conversations.delete(accountId, conversation.id, 9)).toBe(false);
    expect(await store.conversations.message(question.answerId)).toBeUndefined();
    expect(await store.conversations.endAnswer(makeAnswerEnding(question.answerId, job.id))).toBe(false);
    expect((await store.jobs.get(job.id))?.state).toBe("pending");
  });
}

import type Database from "better-sqlite3";
import type { AnswerEnding, Question } from "../../conversation-store.ts";
import { REFUSALS } from "../../refusals.ts";
import type { ConversationRow } from "./conversation-rows.ts";
import type { JobOperations } from "../jobs/job-operations.ts";

type JobArgs = Parameters<JobOperations["submitJob"]>[0];
type JobAnswer = ReturnType<JobOperations["submitJob"]>;

export interface ConversationOperations {
  createConversation(args: ConversationRow): void;
  /** `metadata`: JSON text. An undefined field is not changed. */
  updateConversation(args: {
    accountId: string;
    id: string;
    title?: string | null;
    metadata?: string;
    atMs: number;
  }): void;
  /** Also begins the removal of what its jobs hold. */
  deleteConversation(args: { accountId: string; id: string; atMs: number }): boolean;
  askQuestion(args: { question: Question; job: JobArgs }): JobAnswer;
  askAgain(args: { answerId: string; endedJobId: string; job: JobArgs }): JobAnswer;
  /** `error`: JSON text. */
  endAnswer(args: Omit<AnswerEnding, "error"> & { error: string | null }): boolean;
}

/** `submitJob` is the handler of every job; it runs in the same transaction. */
export function conversationOperations(
  db: Database.Database,
  { submitJob }: Pick<JobOperations, "submitJob">,
): ConversationOperations {
  const touch = db.prepare<[number, string]>("UPDATE conversations SET updated_at_ms = ? WHERE id = ?");
  return { ...prepareEntries(db), ...prepareAsking(db, submitJob, touch), endAnswer: prepareEndAnswer(db, touch) };
}

function prepareEntries(
  db: Database.Database,
): Pick<ConversationOperations, "createConversation" | "updateConversation" | "deleteConversation"> {
  const insert = db.prepare<ConversationRow>(
    `INSERT INTO conversations (id, account_id, title, slug, system_prompt, metadata, created_at_ms, updated_at_ms)
     VALUES (@id, @accountId, @title, @slug, @systemPrompt, @metadata, @createdAtMs, @updatedAtMs)`,
  );
  const update = db.prepare(
    `UPDATE conversations SET title = CASE WHEN @setsTitle THEN @title ELSE title END,
       metadata = coalesce(@metadata, metadata), updated_at_ms = @atMs
     WHERE id = @id AND account_id = @accountId`,
  );
  const find = db
    .prepare<[string, string], number>("SELECT 1 FROM conversations WHERE id = ? AND account_id = ?")
    .pluck();
  const removeMessages = db.prepare<[string]>("DELETE FROM messages WHERE conversation_id = ?");
  const beginRemoval = db.prepare<[string, number]>(
    "INSERT INTO removals (kind, id, at_ms) VALUES ('conversation', ?, ?) ON CONFLICT DO NOTHING",
  );
  const remove = db.prepare<[string]>("DELETE FROM conversations WHERE id = ?");
  return {
    createConversation: (row) => void insert.run(row),
    updateConversation({ accountId, id, title, metadata, atMs }) {
      const setsTitle = title === undefined ? 0 : 1;
      const values = { accountId, id, setsTitle, title: title ?? null, metadata: metadata ?? null, atMs };
      if (update.run(values).changes === 0) throw REFUSALS.no_conversation();
    },
    deleteConversation({ accountId, id, atMs }) {
      if (find.get(id, accountId) === undefined) return false;
      removeMessages.run(id);
      remove.run(id);
      beginRemoval.run(id, atMs);
      return true;
    },
  };
}

function prepareAsking(
  db: Database.Database,
  submitJob: JobOperations["submitJob"],
  touch: Database.Statement<[number, string]>,
): Pick<ConversationOperations, "askQuestion" | "askAgain"> {
  const findOwner = db.prepare<[string], string>("SELECT account_id FROM conversations WHERE id = ?").pluck();
  const findLast = db.prepare<[string], { id: string; state: string }>(
    "SELECT id, state FROM messages WHERE conversation_id = ? ORDER BY ord DESC LIMIT 1",
  );
  const insertQuestion = db.prepare(
    `INSERT INTO messages (id, conversation_id, role, content, state, created_at_ms, completed_at_ms)
     VALUES (?, ?, 'user', ?, 'completed', ?, ?)`,
  );
  const insertAnswer = db.prepare(
    `INSERT INTO messages (id, conversation_id, role, content, state, job_id, created_at_ms)
     VALUES (?, ?, 'assistant', '', 'in_progress', ?, ?)`,
  );
  const findAnswer = db
    .prepare<[string, string], string>(
      "SELECT conversation_id FROM messages WHERE id = ? AND job_id = ? AND state = 'in_progress'",
    )
    .pluck();
  const linkJob = db.prepare<[string, string]>("UPDATE jobs SET conversation_id = ? WHERE id = ?");
  const replaceJob = db.prepare<[string, string]>("UPDATE messages SET job_id = ? WHERE id = ?");
  return {
    askQuestion({ question, job }) {
      const { conversationId, userMessageId, content, answerId, afterMessageId } = question;
      if (findOwner.get(conversationId) !== job.accountId) throw REFUSALS.no_conversation();
      const last = findLast.get(conversationId);
      if (last?.state === "in_progress" || (last?.id ?? null) !== afterMessageId) {
        throw REFUSALS.conversation_busy();
      }
      const answered = submitJob(job);
      linkJob.run(conversationId, job.id);
      insertQuestion.run(userMessageId, conversationId, content, job.createdAtMs, job.createdAtMs);
      insertAnswer.run(answerId, conversationId, job.id, job.createdAtMs);
      touch.run(job.createdAtMs, conversationId);
      return answered;
    },
    askAgain({ answerId, endedJobId, job }) {
      const conversationId = findAnswer.get(answerId, endedJobId);
      if (conversationId === undefined) {
        throw REFUSALS.no_answer();
      }
      const answered = submitJob(job);
      linkJob.run(conversationId, job.id);
      replaceJob.run(job.id, answerId);
      return answered;
    },
  };
}

function prepareEndAnswer(
  db: Database.Database,
  touch: Database.Statement<[number, string]>,
): ConversationOperations["endAnswer"] {
  const end = db
    .prepare<Omit<AnswerEnding, "error"> & { error: string | null }, string>(
      `UPDATE messages SET state = @state, content = @content, finish_reason = @finishReason, error = @error,
         completed_at_ms = @atMs
       WHERE id = @answerId AND job_id = @jobId AND state = 'in_progress' RETURNING conversation_id`,
    )
    .pluck();
  return (ending) => {
    const conversationId = end.get(ending);
    if (conversationId === undefined) return false;
    touch.run(ending.atMs, conversationId);
    return true;
  };
}

import type Database from "better-sqlite3";
import { messageTable, type Question } from "../../conversations.ts";
import { REFUSALS } from "../../refusals.ts";
import { prepareInsert } from "../engine/sqlite-tx.ts";
import type { JobOperations } from "./job-operations.ts";

type JobArgs = Parameters<JobOperations["submitJob"]>[0];
type JobAnswer = ReturnType<JobOperations["submitJob"]>;

export interface AskOperations {
  askQuestion(args: { question: Question; job: JobArgs }): JobAnswer;
  askAgain(args: { answerId: string; endedJobId: string; job: JobArgs }): JobAnswer;
}

/** `submitJob` is the handler of every job; it runs in the same transaction. */
export function askOperations(db: Database.Database, { submitJob }: Pick<JobOperations, "submitJob">): AskOperations {
  const touch = db.prepare<[number, string]>("UPDATE conversations SET updated_at_ms = ? WHERE id = ?");
  const findOwner = db.prepare<[string], string>("SELECT account_id FROM conversations WHERE id = ?").pluck();
  const findLast = db.prepare<[string], { id: string; state: string }>(
    "SELECT id, state FROM messages WHERE conversation_id = ? ORDER BY ord DESC LIMIT 1",
  );
  const members = [
    "id",
    "conversationId",
    "role",
    "content",
    "state",
    "jobId",
    "createdAtMs",
    "completedAtMs",
  ] as const;
  const insert = prepareInsert(db, messageTable, members);
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
      const { createdAtMs } = job;
      const asked = { id: userMessageId, role: "user", content, state: "completed", jobId: null } as const;
      insert({ ...asked, conversationId, createdAtMs, completedAtMs: createdAtMs });
      const begun = { id: answerId, role: "assistant", content: "", state: "in_progress", jobId: job.id } as const;
      insert({ ...begun, conversationId, createdAtMs, completedAtMs: null });
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

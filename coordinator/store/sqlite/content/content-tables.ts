import type { RemovalSubject } from "../../content-store.ts";

/** A job of each kind of subject that has not ended. */
export const UNFINISHED_OF: Readonly<Record<RemovalSubject["kind"], string>> = {
  job: "SELECT 1 FROM jobs WHERE id = ? AND completed_at_ms IS NULL",
  conversation: "SELECT 1 FROM jobs WHERE conversation_id = ? AND completed_at_ms IS NULL LIMIT 1",
  account:
    "SELECT 1 FROM jobs INDEXED BY jobs_live_by_account WHERE account_id = ? AND completed_at_ms IS NULL LIMIT 1",
};

/** The ended jobs of each kind of subject, in pages: id, then the last id of the page before, then the limit. */
export const JOBS_OF: Readonly<Record<RemovalSubject["kind"], string>> = {
  job: "SELECT id FROM jobs WHERE id = ? AND id > ? AND completed_at_ms IS NOT NULL LIMIT ?",
  conversation: `SELECT id FROM jobs WHERE conversation_id = ? AND id > ? AND completed_at_ms IS NOT NULL
    ORDER BY id LIMIT ?`,
  account: `SELECT id FROM jobs INDEXED BY jobs_by_account WHERE account_id = ? AND id > ? AND completed_at_ms IS NOT NULL
    ORDER BY id LIMIT ?`,
};

/**
 * What a deleted account has beside its jobs, in an order that foreign keys allow. Each takes the account and a limit. Entries of the
 * ledger, batches and the rows of jobs stay: they have no content.
 */
export const ACCOUNT_ROWS: readonly string[] = [
  `DELETE FROM messages WHERE ord IN (
     SELECT ord FROM messages JOIN conversations ON conversations.id = conversation_id WHERE account_id = ? LIMIT ?)`,
  "DELETE FROM conversations WHERE id IN (SELECT id FROM conversations WHERE account_id = ? LIMIT ?)",
  "DELETE FROM webhooks WHERE id IN (SELECT id FROM webhooks WHERE account_id = ? LIMIT ?)",
  `DELETE FROM idempotency_keys WHERE (account_id, key) IN (
     SELECT account_id, key FROM idempotency_keys WHERE account_id = ? LIMIT ?)`,
  "DELETE FROM islands WHERE host_id IN (SELECT host_id FROM islands WHERE account_id = ? LIMIT ?)",
];

const ENDED = "SELECT 1 FROM jobs WHERE jobs.id = job_id AND completed_at_ms <= @endedByMs";

/**
 * Jobs that ended by a moment and still have a part. A job ended after it was made and ids sort by creation, so `@beforeId` bounds
 * what is read: the jobs older than that, of which a sweep leaves few.
 */
export const EXPIRED = {
  input: `SELECT job_id FROM job_inputs WHERE job_id > @afterId AND job_id < @beforeId AND EXISTS (${ENDED})
    ORDER BY job_id LIMIT @limit`,
  output: `SELECT job_id FROM (
      SELECT job_id FROM job_outputs WHERE job_id > @afterId AND job_id < @beforeId
      UNION SELECT job_id FROM feed_chunks WHERE job_id > @afterId AND job_id < @beforeId
    ) WHERE EXISTS (${ENDED}) ORDER BY job_id LIMIT @limit`,
} as const;

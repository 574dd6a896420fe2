import { isTerminal, JOB_STATES } from "../../../../shared/job-state.ts";
import type { RemovalSubject } from "../../content-store.ts";
import { LISTED, UNLISTED } from "../jobs/job-listing.ts";

const UNFINISHED_JOB = "SELECT 1 FROM jobs WHERE id = ? AND completed_at_ms IS NULL";
const ENDED_JOB = "SELECT id FROM jobs WHERE id = @id AND id > @after AND completed_at_ms IS NOT NULL LIMIT @limit";
/** Merges the indexes' parts, which are sorted by id. */
const ENDED_OF_ACCOUNT = [
  ...JOB_STATES.filter((state) => isTerminal(state)).map(
    (state) => `jobs_ended_by_state WHERE ${LISTED} AND account_id = @id AND state = '${state}'`,
  ),
  `jobs_unlisted WHERE ${UNLISTED} AND account_id = @id`,
]
  .map((part) => `SELECT id FROM jobs INDEXED BY ${part} AND id > @after`)
  .join(" UNION ALL ");

/** A job of each kind of subject that has not ended. */
export const UNFINISHED_OF: Readonly<Record<RemovalSubject["kind"], string>> = {
  job: UNFINISHED_JOB,
  output: UNFINISHED_JOB,
  conversation: "SELECT 1 FROM jobs WHERE conversation_id = ? AND completed_at_ms IS NULL LIMIT 1",
  account: "SELECT 1 FROM jobs INDEXED BY jobs_live WHERE account_id = ? AND completed_at_ms IS NULL LIMIT 1",
};

/** The ended jobs of each kind of subject, in pages. `@after`: the last id of the page before. */
export const JOBS_OF: Readonly<Record<RemovalSubject["kind"], string>> = {
  job: ENDED_JOB,
  output: ENDED_JOB,
  conversation: `SELECT id FROM jobs WHERE conversation_id = @id AND id > @after AND completed_at_ms IS NOT NULL
    ORDER BY id LIMIT @limit`,
  account: `${ENDED_OF_ACCOUNT} ORDER BY id LIMIT @limit`,
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
  ...["island_days", "island_earnings"].map(
    (table) => `DELETE FROM ${table} WHERE (account_id, host_id, day) IN (
      SELECT account_id, host_id, day FROM ${table} WHERE account_id = ? LIMIT ?)`,
  ),
  `DELETE FROM account_usage WHERE (account_id, day, kind, slug, key_id) IN (
     SELECT account_id, day, kind, slug, key_id FROM account_usage WHERE account_id = ? LIMIT ?)`,
];

/** Jobs that ended between two moments and still have a part, oldest end first. */
export const EXPIRED = { input: expired("input_removed_at_ms"), output: expired("output_removed_at_ms") } as const;

function expired(removedAt: string): string {
  const parts = [`jobs_ended WHERE ${LISTED}`, `jobs_unlisted WHERE ${UNLISTED}`].map(
    (part) => `SELECT id, completed_at_ms AS endedAtMs FROM jobs INDEXED BY ${part}
      AND completed_at_ms >= @sinceMs AND completed_at_ms <= @endedByMs AND ${removedAt} IS NULL`,
  );
  return `${parts.join(" UNION ALL ")} ORDER BY endedAtMs LIMIT @limit`;
}

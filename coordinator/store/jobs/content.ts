import { isTerminal, JOB_STATES } from "../../../shared/job-state.ts";
import { returnPostings } from "../../credits/postings.ts";
import { claimTurn } from "../work-division.ts";
import { LISTED, UNLISTED } from "./job-guards.ts";
import { read, write, type Opened } from "../steps/steps.ts";
import { integer, key, Table, text, type RowOf } from "../steps/table.ts";
import { indexedBy, inRows, selectIds, someRows, type Tx } from "../steps/tx.ts";

/** Removals of prompts and outputs that have started and not finished. */
export const removalTable = new Table(
  "removals",
  {
    /** `output`: the rest of a job's output, whose removal took more than one `remove` step. */
    kind: text<"job" | "output" | "conversation" | "account">(
      "CHECK (kind IN ('job', 'output', 'conversation', 'account'))",
    ),
    id: key(),
    atMs: integer(),
  },
  { rules: ["PRIMARY KEY (kind, id)"] },
);

export type RemovalSubject = Pick<RowOf<typeof removalTable>, "kind" | "id">;

/** Removable parts of a job. `output`: everything that the job produced, including its stream events. */
export const CONTENT_PARTS = ["input", "output"] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

interface ContentRemoval {
  readonly parts: readonly ContentPart[];
  /** Whether to also remove the job's question and answer from its conversation. */
  readonly withMessages: boolean;
  readonly atMs: number;
}

export interface ContentStore extends Opened<typeof contentSteps> {
  /** Whether the database can return unused space while it is in use. */
  readonly canReclaim: boolean;
  /**
   * Returns some unused space to the file system. Resolves with false if no unused space is left, or it cannot return
   * any.
   */
  reclaim(): Promise<boolean>;
  /** Truncates the write-ahead log, which still contains removed content. Resolves with false if a reader blocks it. */
  truncateLog(): Promise<boolean>;
}

/** Replaces the error message of a job whose output was removed: it may quote the output. */
const REMOVED_MESSAGE = "The message was removed with the job's output";
/** Maximum bytes removed by one step, which then takes about as long as a checkpoint: tens of ms on a slow disk. */
const MAX_STEP_BYTES = 4 * 1_024 * 1_024;
const MAX_STEP_ROWS = 200;
/** Minimum bytes that a deleted row counts as: its deletion rewrites a page. */
const MIN_ROW_BYTES = 4_096;
/** Maximum bytes of a row: one piece of a large value. */
const MAX_ROW_BYTES = 65_536;

const ENDED = "completed_at_ms IS NOT NULL";
const COLUMN = { job: "id", output: "id", conversation: "conversation_id", account: "account_id" } as const;

/** SQL for SQLite: ended jobs of an account after `@afterId`, from several indexes that are each sorted by id. */
const ENDED_OF_ACCOUNT = [
  ...JOB_STATES.filter((state) => isTerminal(state)).map(
    (state) => `jobs_ended_by_state WHERE ${LISTED} AND account_id = @id AND state = '${state}'`,
  ),
  `jobs_unlisted WHERE ${UNLISTED} AND account_id = @id`,
]
  .map((part) => `SELECT id FROM jobs INDEXED BY ${part} AND id > @afterId`)
  .join(" UNION ALL ");

export const jobsOf = ({ dialect }: Tx, kind: RemovalSubject["kind"]): string =>
  dialect === "sqlite" && kind === "account"
    ? `${ENDED_OF_ACCOUNT} ORDER BY id LIMIT @limit`
    : `SELECT id FROM jobs WHERE ${COLUMN[kind]} = @id AND id > @afterId AND ${ENDED} ORDER BY id LIMIT @limit`;

export const unfinishedOf = (tx: Tx, kind: RemovalSubject["kind"]): string => {
  const index = kind === "account" ? indexedBy(tx, "jobs_live") : "";
  return `SELECT 1 FROM jobs ${index} WHERE ${COLUMN[kind]} = @id AND completed_at_ms IS NULL LIMIT 1`;
};

/** Returns SQL for ended jobs that still have the part, oldest end first. */
export const expired = ({ dialect }: Tx, part: ContentPart): string => {
  const ended = `completed_at_ms <= @endedByMs AND ${part}_removed_at_ms IS NULL`;
  const columns = 'id, completed_at_ms AS "endedAtMs"';
  if (dialect === "postgres") {
    return `SELECT ${columns} FROM jobs WHERE ${ended} AND ${ENDED} ORDER BY completed_at_ms, id LIMIT @limit`;
  }
  const parts = [`jobs_ended WHERE ${LISTED}`, `jobs_unlisted WHERE ${UNLISTED}`].map(
    (list) => `SELECT ${columns} FROM jobs INDEXED BY ${list} AND completed_at_ms >= @sinceMs AND ${ended}`,
  );
  return `${parts.join(" UNION ALL ")} ORDER BY endedAtMs LIMIT @limit`;
};

/**
 * Returns the table and condition of DELETE statements for rows of a deleted account, at most `@limit` rows each, in an
 * order that foreign keys allow. Ledger entries, batches and job rows stay, because they contain no content.
 */
export function accountRows(tx: Tx): string[] {
  const own = "account_id = @accountId";
  const conversations = `SELECT id FROM conversations WHERE ${own} ORDER BY id LIMIT @limit`;
  const messages = `SELECT ord FROM messages WHERE conversation_id ${inRows(tx, conversations)} LIMIT @limit`;
  const ofAccount = (table: string, column: string): string =>
    `${column} ${inRows(tx, `SELECT ${column} FROM ${table} WHERE ${own} LIMIT @limit`)}`;
  const hostDay = "account_id, host_id, day";
  return [
    `messages WHERE ord ${inRows(tx, messages)}`,
    `conversations WHERE id ${inRows(tx, conversations)}`,
    `webhooks WHERE ${ofAccount("webhooks", "id")}`,
    `idempotency_keys WHERE ${own} AND ${ofAccount("idempotency_keys", "key")}`,
    `islands WHERE ${ofAccount("islands", "host_id")}`,
    `island_days WHERE ${someRows(tx, "island_days", hostDay, own)}`,
    `island_earnings WHERE ${someRows(tx, "island_earnings", hostDay, own)}`,
    `account_usage WHERE ${someRows(tx, "account_usage", "account_id, day, kind, slug, key_id", own)}`,
  ].map((rows) => `DELETE FROM ${rows}`);
}

export async function beginRemoval(tx: Tx, subject: RemovalSubject, atMs: number): Promise<void> {
  await removalTable.insert(tx, { ...subject, atMs }, "ON CONFLICT DO NOTHING");
}

async function endRemoval(tx: Tx, { kind, id }: RemovalSubject): Promise<void> {
  await tx.run("DELETE FROM removals WHERE kind = @kind AND id = @id", { kind, id });
}

/**
 * Removes parts of an ended job from all tables with job content, until about `maxBytes` are removed. `usedBytes`:
 * bytes of the deleted rows. `isComplete`: false if rows are left. No-op for an unfinished or unknown job.
 */
async function removeJob(
  tx: Tx,
  maxBytes: number,
  jobId: string,
  { parts, atMs }: ContentRemoval,
): Promise<{ readonly usedBytes: number; readonly isComplete: boolean }> {
  let usedBytes = 0;
  const isUsedUp = (): boolean => usedBytes >= maxBytes;
  const own = "WHERE job_id = @jobId";
  const mark = (part: ContentPart) => {
    const column = `${part}_removed_at_ms`;
    const sql = `UPDATE jobs SET ${column} = coalesce(${column}, @atMs) WHERE id = @jobId AND ${ENDED} RETURNING error`;
    return tx.one<{ readonly error: string | null }>(sql, { jobId, atMs });
  };
  const remove = async (rows: string): Promise<number> => {
    const limit = Math.max(1, Math.floor((maxBytes - usedBytes) / MAX_ROW_BYTES));
    const deleted = await tx.all<{ bytes: number }>(`DELETE FROM ${rows} AS bytes`, { jobId, limit });
    for (const { bytes } of deleted) usedBytes += Math.max(bytes, MIN_ROW_BYTES);
    return deleted.length;
  };

  if (parts.includes("input")) {
    if ((await mark("input")) === undefined) return { usedBytes, isComplete: true };
    await remove(`job_inputs ${own} RETURNING octet_length(input)`);
  }
  if (!parts.includes("output")) return { usedBytes, isComplete: true };
  const job = await mark("output");
  if (job === undefined) return { usedBytes, isComplete: true };
  // An error message may quote the prompt or the output.
  if (job.error !== null) {
    const error = { ...(JSON.parse(job.error) as object), message: REMOVED_MESSAGE };
    const values = { jobId, error: JSON.stringify(error) };
    await tx.run("UPDATE jobs SET error = @error WHERE id = @jobId", values);
  }
  await remove(`job_outputs ${own} RETURNING octet_length(output)`);
  await remove(`job_feeds ${own} RETURNING octet_length(layout) + coalesce(octet_length(text), 0)`);
  // These tables may have any number of rows of a job.
  const lists = [
    `feed_chunks WHERE ord ${inRows(tx, `SELECT ord FROM feed_chunks ${own} LIMIT @limit`)}
       RETURNING octet_length(items) + coalesce(octet_length(text), 0)`,
    `large_pieces ${own} AND (name, piece) IN (SELECT name, piece FROM large_pieces ${own} LIMIT @limit)
       RETURNING octet_length(text)`,
  ];
  for (const rows of lists) {
    for (let count = 1; count > 0 && !isUsedUp();) {
      // oxlint-disable-next-line no-await-in-loop -- Each round deletes rows until `maxBytes` are removed.
      count = await remove(rows);
    }
  }
  if (!isUsedUp()) return { usedBytes, isComplete: true };
  const left = `SELECT 1 WHERE EXISTS (SELECT 1 FROM feed_chunks ${own}) OR EXISTS (SELECT 1 FROM large_pieces ${own})`;
  return { usedBytes, isComplete: (await tx.one(left, { jobId })) === undefined };
}

async function deleteAnswerAndQuestion(tx: Tx, jobId: string): Promise<void> {
  const find = `SELECT ord, conversation_id AS "conversationId" FROM messages WHERE job_id = @jobId`;
  const answer = await tx.one<{ ord: number; conversationId: string }>(find, { jobId });
  if (answer === undefined) return;
  const question =
    "SELECT max(ord) FROM messages WHERE conversation_id = @conversationId AND ord < @ord AND role = 'user'";
  await tx.run(`DELETE FROM messages WHERE ord = @ord OR ord = (${question})`, answer);
}

/**
 * Removal of job inputs and outputs; status, usage, charge and ledger stay. Every write is one bounded step, so that
 * other writes never wait longer than one step. Unfinished jobs are never changed.
 */
export const contentSteps = {
  /** Claims the sweep of a period of `everyMs`. Returns true for one coordinator in each period. */
  takeSweep: read(async (tx, everyMs: number) => tx.dialect === "sqlite" || claimTurn(tx, "sweep", everyMs)),

  /** Records a removal. The record survives a crash and is kept until `finish` succeeds. */
  begin: write(beginRemoval),

  /** Returns the recorded removals, oldest first. */
  inFlight: read((tx) => tx.all<RemovalSubject>("SELECT kind, id FROM removals ORDER BY at_ms")),

  /** Returns sorted ids of the subject's ended jobs after `afterId` (empty to start at the first). */
  jobsOf: read((tx, { kind, id }: RemovalSubject, afterId: string, limit: number) =>
    selectIds(tx, jobsOf(tx, kind), { id, afterId, limit }),
  ),

  /**
   * Returns jobs that ended by `endedByMs` and still have the part, oldest end first. `sinceMs`: a time before which no
   * ended job still has the part, so that SQLite skips older rows.
   */
  expired: read(
    (tx, part: ContentPart, ends: { readonly sinceMs: number; readonly endedByMs: number }, limit: number) =>
      tx.all<{ readonly id: string; readonly endedAtMs: number }>(expired(tx, part), { ...ends, limit }),
  ),

  /**
   * Removes parts of ended jobs, in order, until about 4 MB are removed. Resolves with the number of jobs completed,
   * from the first. A partly removed job can no longer be read, and its removal stays recorded.
   */
  remove: write(async (tx, jobIds: readonly string[], removal: ContentRemoval) => {
    let leftBytes = MAX_STEP_BYTES;
    for (const [done, id] of jobIds.entries()) {
      if (leftBytes <= 0) return done;
      // oxlint-disable no-await-in-loop -- One job at a time, until enough bytes are removed.
      const removed = await removeJob(tx, leftBytes, id, removal);
      leftBytes -= removed.usedBytes;
      if (!removed.isComplete) {
        await beginRemoval(tx, { kind: "output", id }, removal.atMs);
        return done;
      }
      await endRemoval(tx, { kind: "output", id });
      if (removal.withMessages) await deleteAnswerAndQuestion(tx, id);
      // oxlint-enable no-await-in-loop
    }
    return jobIds.length;
  }),

  /** Removes some rows of a deleted account other than its jobs. Resolves with true when no rows are left. */
  removeOfAccount: write(async (tx, accountId: string) => {
    for (const sql of accountRows(tx)) {
      // oxlint-disable-next-line no-await-in-loop -- The step ends with the first statement that deletes something.
      if ((await tx.run(sql, { accountId, limit: MAX_STEP_ROWS })) > 0) return false;
    }
    return true;
  }),

  /**
   * Ends a removal. The remaining credits of a deleted account return to the network. Resolves with false, and keeps
   * the removal recorded, while the subject has unfinished jobs.
   */
  finish: write(async (tx, subject: RemovalSubject, atMs: number) => {
    const { kind, id } = subject;
    if ((await tx.one(unfinishedOf(tx, kind), { id })) !== undefined) return false;
    if (kind === "account") await tx.post(returnPostings(id, await tx.balanceOf(`client:${id}`)), atMs);
    await endRemoval(tx, subject);
    return true;
  }),

  /**
   * Deletes up to `limit` delivered and failed webhooks whose job or batch ended by `endedByMs`. Resolves with the
   * number.
   */
  removeWebhooks: write((tx, endedByMs: number, limit: number) => {
    const ended = `SELECT id FROM webhooks WHERE state IN ('delivered', 'failed') AND ended_at_ms <= @endedByMs
      ORDER BY ended_at_ms LIMIT @limit`;
    return tx.run(`DELETE FROM webhooks WHERE id ${inRows(tx, ended)}`, { endedByMs, limit });
  }),
};

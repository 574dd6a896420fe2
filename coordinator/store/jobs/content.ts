import { isTerminal, JOB_STATES } from "../../../shared/job-state.ts";
import { returnPostings } from "../../credits/postings.ts";
import { claimRound } from "../work-division.ts";
import { LISTED, UNLISTED } from "./job-guards.ts";
import { read, write, type Opened } from "../steps/steps.ts";
import { integer, key, Table, text, type RowOf } from "../steps/table.ts";
import { indexedBy, inRows, someRows, type Tx } from "../steps/tx.ts";

/** Removals of prompts and answers that are under way. */
export const removalTable = new Table(
  "removals",
  {
    /** `output`: of a job, begun by a step of `remove` that had to stop. */
    kind: text<"job" | "output" | "conversation" | "account">(
      "CHECK (kind IN ('job', 'output', 'conversation', 'account'))",
    ),
    id: key(),
    atMs: integer(),
  },
  { rules: ["PRIMARY KEY (kind, id)"] },
);

/** Whose prompts and answers are removed for good. */
export type RemovalSubject = Pick<RowOf<typeof removalTable>, "kind" | "id">;

/** `input`: what the client sent. `output`: all that the job produced, with the events of its stream. */
export const CONTENT_PARTS = ["input", "output"] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

interface ContentRemoval {
  readonly parts: readonly ContentPart[];
  /** Also the question and answer that a job left in a conversation. */
  readonly withMessages: boolean;
  readonly atMs: number;
}

/** What storage does with the space of what was removed. */
interface FreedSpace {
  /** False for a database that keeps unused space until it is rewritten offline. */
  readonly canReclaim: boolean;
  /** Gives some unused space back to the file system. False when there is no more to give, or the database was made without it. */
  reclaim(): Promise<boolean>;
  /** Empties the write-ahead log, which has copies of what was removed. False if a reader is in the way; try again later. */
  truncateLog(): Promise<boolean>;
}

export type ContentStore = Opened<typeof contentSteps> & FreedSpace;

/** In place of the message of a job whose output was removed. */
const REMOVED_MESSAGE = "The message was removed with the job's output";
/** Most that one step removes. It takes about as long as a checkpoint: tens of ms on a slow disk. */
const MAX_STEP_BYTES = 4 * 1_024 * 1_024;
const MAX_STEP_ROWS = 200;
/** Rows cost more than their content: each rewrites a page. */
const MIN_ROW_BYTES = 4_096;
/** Each row may have as much as a piece of a large value. */
const MAX_ROW_BYTES = 65_536;

const ENDED = "completed_at_ms IS NOT NULL";
const COLUMN = { job: "id", output: "id", conversation: "conversation_id", account: "account_id" } as const;

/** SQLite reads parts of its late lists, each sorted by id. */
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

/** A job of the subject that has not ended. */
export const unfinishedOf = (tx: Tx, kind: RemovalSubject["kind"]): string => {
  const index = kind === "account" ? indexedBy(tx, "jobs_live") : "";
  return `SELECT 1 FROM jobs ${index} WHERE ${COLUMN[kind]} = @id AND completed_at_ms IS NULL LIMIT 1`;
};

/** Jobs that ended and still have a part, oldest end first. */
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
 * What a deleted account has beside its jobs, as statements that delete some of it, in an order that foreign keys allow. Entries of the
 * ledger, batches and the rows of jobs stay: they have no content.
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

/** Removes parts of one ended job. It knows every table with content of a job. */
class JobRemoval {
  readonly #tx: Tx;
  /** What the step may still remove. */
  bytes = MAX_STEP_BYTES;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** False when the budget was spent before everything was removed: call it again. An unfinished or unknown job is left alone. */
  async remove(jobId: string, { parts, atMs }: ContentRemoval): Promise<boolean> {
    if (parts.includes("input")) {
      if ((await this.#mark("input", jobId, atMs)) === undefined) return true;
      await this.#delete("job_inputs WHERE job_id = @jobId RETURNING octet_length(input) AS bytes", { jobId });
    }
    if (!parts.includes("output")) return true;
    const job = await this.#mark("output", jobId, atMs);
    if (job === undefined) return true;
    // An error's message may quote the prompt or the answer.
    if (job.error !== null) {
      const error = { ...(JSON.parse(job.error) as object), message: REMOVED_MESSAGE };
      const values = { jobId, error: JSON.stringify(error) };
      await this.#tx.run("UPDATE jobs SET error = @error WHERE id = @jobId", values);
    }
    await this.#delete("job_outputs WHERE job_id = @jobId RETURNING octet_length(output) AS bytes", { jobId });
    const feed = "octet_length(layout) + coalesce(octet_length(text), 0)";
    await this.#delete(`job_feeds WHERE job_id = @jobId RETURNING ${feed} AS bytes`, { jobId });
    return this.#removeRows(jobId);
  }

  #mark(part: ContentPart, jobId: string, atMs: number): Promise<{ readonly error: string | null } | undefined> {
    const column = `${part}_removed_at_ms`;
    const sql = `UPDATE jobs SET ${column} = coalesce(${column}, @atMs) WHERE id = @jobId AND ${ENDED} RETURNING error`;
    return this.#tx.one(sql, { jobId, atMs });
  }

  /** Rows whose number has no bound. */
  async #removeRows(jobId: string): Promise<boolean> {
    const own = "WHERE job_id = @jobId";
    const lists = [
      `feed_chunks WHERE ord ${inRows(this.#tx, `SELECT ord FROM feed_chunks ${own} LIMIT @limit`)}
       RETURNING octet_length(items) + coalesce(octet_length(text), 0) AS bytes`,
      `large_pieces ${own} AND (name, piece) IN (SELECT name, piece FROM large_pieces ${own} LIMIT @limit)
       RETURNING octet_length(text) AS bytes`,
    ];
    for (const rows of lists) {
      for (let count = 1; count > 0 && this.bytes > 0;) {
        // oxlint-disable-next-line no-await-in-loop -- Until the budget is spent.
        count = await this.#delete(rows, { jobId, limit: Math.max(1, Math.floor(this.bytes / MAX_ROW_BYTES)) });
      }
    }
    if (this.bytes > 0) return true;
    const left = `SELECT 1 WHERE EXISTS (SELECT 1 FROM feed_chunks ${own}) OR EXISTS (SELECT 1 FROM large_pieces ${own})`;
    return (await this.#tx.one(left, { jobId })) === undefined;
  }

  async #delete(rows: string, values: object): Promise<number> {
    const deleted = await this.#tx.all<{ bytes: number }>(`DELETE FROM ${rows}`, values);
    for (const { bytes } of deleted) this.bytes -= Math.max(bytes, MIN_ROW_BYTES);
    return deleted.length;
  }
}

/** Deletes the answer that a job made in a conversation, and the question before it. */
async function deleteTurn(tx: Tx, jobId: string): Promise<void> {
  const find = `SELECT ord, conversation_id AS "conversationId" FROM messages WHERE job_id = @jobId`;
  const answer = await tx.one<{ ord: number; conversationId: string }>(find, { jobId });
  if (answer === undefined) return;
  const question =
    "SELECT max(ord) FROM messages WHERE conversation_id = @conversationId AND ord < @ord AND role = 'user'";
  await tx.run(`DELETE FROM messages WHERE ord = @ord OR ord = (${question})`, answer);
}

/**
 * Removal of what jobs were asked and what they answered. Facts stay: status, usage, charge and the ledger. Every write is one bounded
 * step, so that other writes wait for no more than that. Unfinished jobs are never touched.
 */
export const contentSteps = {
  /** Whether this coordinator sweeps now; where several share the store, one of them in each period. */
  takeSweep: read(async (tx, everyMs: number) => tx.dialect === "sqlite" || claimRound(tx, "sweep", everyMs)),

  /** Notes a removal, which is then under way until `finish` succeeds, also after a crash. */
  begin: write(beginRemoval),

  /** Removals under way, oldest first. */
  inFlight: read((tx) => tx.all<RemovalSubject>("SELECT kind, id FROM removals ORDER BY at_ms")),

  /** Ids of the subject's ended jobs, sorted, after `afterId` (empty: from the first); at most `limit`. */
  jobsOf: read(async (tx, { kind, id }: RemovalSubject, afterId: string, limit: number) => {
    const jobs = await tx.all<{ id: string }>(jobsOf(tx, kind), { id, afterId, limit });
    return jobs.map((job) => job.id);
  }),

  /**
   * Jobs that ended at or before `endedByMs` and still have the part, in the order of their ends; at most `limit`. `sinceMs`: none that
   * ended before has it, so that SQLite need not read them.
   */
  expired: read(
    (tx, part: ContentPart, ends: { readonly sinceMs: number; readonly endedByMs: number }, limit: number) =>
      tx.all<{ readonly id: string; readonly endedAtMs: number }>(expired(tx, part), { ...ends, limit }),
  ),

  /**
   * Removes parts of ended jobs, in order, until it has removed about 4 MB. Resolves with how many of them are done, from the first on.
   * The next one may be half done: nobody can read it any more, and a removal of its output is under way until it is done.
   */
  remove: write(async (tx, jobIds: readonly string[], removal: ContentRemoval) => {
    const job = new JobRemoval(tx);
    for (const [done, id] of jobIds.entries()) {
      if (job.bytes <= 0) return done;
      // oxlint-disable no-await-in-loop -- One job after the other, until the budget is spent.
      if (!(await job.remove(id, removal))) {
        await beginRemoval(tx, { kind: "output", id }, removal.atMs);
        return done;
      }
      await endRemoval(tx, { kind: "output", id });
      if (removal.withMessages) await deleteTurn(tx, id);
      // oxlint-enable no-await-in-loop
    }
    return jobIds.length;
  }),

  /** Removes some of what a deleted account has beside its jobs: conversations, webhooks, Islands. True when nothing is left. */
  removeOfAccount: write(async (tx, accountId: string) => {
    for (const sql of accountRows(tx)) {
      // oxlint-disable-next-line no-await-in-loop -- The first that finds something is the step.
      if ((await tx.run(sql, { accountId, limit: MAX_STEP_ROWS })) > 0) return false;
    }
    return true;
  }),

  /**
   * Ends a removal. For an account the credits that are left go back to the network. False while the subject has unfinished jobs; the
   * removal is then still under way.
   */
  finish: write(async (tx, subject: RemovalSubject, atMs: number) => {
    const { kind, id } = subject;
    if ((await tx.one(unfinishedOf(tx, kind), { id })) !== undefined) return false;
    if (kind === "account") await tx.post(returnPostings(id, await tx.balanceOf(`client:${id}`)), atMs);
    await endRemoval(tx, subject);
    return true;
  }),

  /** Removes delivered and failed webhooks, with their logs, whose job or batch ended by then; at most `limit`. Resolves with their number. */
  removeWebhooks: write((tx, endedByMs: number, limit: number) => {
    const ended = `SELECT id FROM webhooks WHERE state IN ('delivered', 'failed') AND ended_at_ms <= @endedByMs
      ORDER BY ended_at_ms LIMIT @limit`;
    return tx.run(`DELETE FROM webhooks WHERE id ${inRows(tx, ended)}`, { endedByMs, limit });
  }),
};

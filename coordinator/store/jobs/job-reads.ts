import type { StoredChunkRow } from "./feed-layout.ts";
import { readJobList } from "./job-lists.ts";
import type { ActiveJobRecord } from "./job-store.ts";
import { ACTIVE_COLUMNS, feedChunkTable, INTERNAL_COLUMNS, jobFeedTable, jobTable } from "./job-tables.ts";
import { LISTED, UNLISTED } from "./job-guards.ts";
import { kept, pageRead, read } from "../steps/steps.ts";
import type { RowOf } from "../steps/table.ts";
import { indexedBy, isOwn, oneOf, type Tx } from "../steps/tx.ts";

const SHARE = "(SELECT share FROM accounts WHERE accounts.id = jobs.account_id) AS share";

/** Returns the SQL columns of an {@link ActiveJobRecord}. */
export const activeColumns = ({ dialect }: Pick<Tx, "dialect">): string =>
  `${jobTable.columns(...ACTIVE_COLUMNS, ...(dialect === "sqlite" ? [] : (["holdsQuota"] as const)))}, ${SHARE}`;

export interface JobRow extends Omit<RowOf<typeof jobTable>, (typeof INTERNAL_COLUMNS)[number]> {
  readonly share: number | null;
  /** Input as JSON; null if it was removed. */
  readonly input: string | null;
  /** Output as JSON; null if the output is the text of the feed. */
  readonly output: string | null;
  readonly largeChars: number | null;
  /** Text of the feed if the output is that text, otherwise null. */
  readonly text: string | null;
}

export const jobReads = {
  accountOf: read(async (tx, jobId: string) => {
    const row = await tx.one<{ id: string }>("SELECT account_id AS id FROM jobs WHERE id = @jobId", { jobId });
    return row?.id;
  }),

  get: read(async (tx, jobId: string): Promise<JobRow | undefined> => {
    const sql = `SELECT ${jobTable.columnsBut(...INTERNAL_COLUMNS)}, ${SHARE}, input, output, large_chars AS "largeChars",
        CASE WHEN state = 'completed' AND output IS NULL THEN job_feeds.text END AS text
      FROM jobs LEFT JOIN job_inputs ON job_inputs.job_id = jobs.id
        LEFT JOIN job_outputs ON job_outputs.job_id = jobs.id LEFT JOIN job_feeds ON job_feeds.job_id = jobs.id
      WHERE jobs.id = @jobId`;
    const row = await jobTable.row<JobRow>(tx, sql, { jobId });
    return row && { ...row, ...jobFeedTable.decode({ text: row.text }, tx.dialect) };
  }),

  /** Returns inputs as JSON by job id, without unknown and removed inputs. */
  inputs: kept(
    read(async (tx, jobIds: readonly string[]) => {
      const sql = `SELECT job_id AS id, input FROM job_inputs WHERE ${oneOf(tx, "job_id", "jobIds")}`;
      return new Map((await tx.all<{ id: string; input: string }>(sql, { jobIds })).map((row) => [row.id, row.input]));
    }),
  ),

  /** Returns a page of an account's jobs. `total` counts all jobs that match the filter. */
  list: pageRead(readJobList),

  /** Returns unfinished jobs of this coordinator after `after`, ordered by account and id. */
  unfinished: kept(
    read((tx, after: Pick<ActiveJobRecord, "accountId" | "id">, limit: number) => {
      const sql = `SELECT ${activeColumns(tx)} FROM jobs ${indexedBy(tx, "jobs_live")}
        WHERE completed_at_ms IS NULL AND ${isOwn(tx, "owner_id")} AND (account_id, id) > (@accountId, @id)
        ORDER BY account_id, id LIMIT @limit`;
      return jobTable.rows<ActiveJobRecord>(tx, sql, { ...after, limit });
    }),
  ),

  /** Returns the feed of an ended job; undefined for an unfinished one. */
  foldedFeed: kept(
    read((tx, jobId: string) =>
      jobFeedTable.row<Pick<RowOf<typeof jobFeedTable>, "layout" | "text">>(
        tx,
        `SELECT ${jobFeedTable.columns("layout", "text")} FROM job_feeds WHERE job_id = @jobId`,
        { jobId },
      ),
    ),
  ),

  /** Returns the feed chunks of an unfinished job, in order; empty for an ended one. */
  feedChunks: kept(
    read((tx, jobId: string) =>
      feedChunkTable.rows<StoredChunkRow>(
        tx,
        `SELECT ${feedChunkTable.columns("attempt", "seq", "items", "text")} FROM feed_chunks
         WHERE job_id = @jobId ORDER BY ord`,
        { jobId },
      ),
    ),
  ),

  largePiece: read(async (tx, jobId: string, name: string, piece: number) => {
    const sql = "SELECT text FROM large_pieces WHERE job_id = @jobId AND name = @name AND piece = @piece";
    return (await tx.one<{ text: string }>(sql, { jobId, name, piece }))?.text;
  }),

  /** Returns the number of jobs completed at or after `sinceMs`, by slug. */
  completionsSince: read(async (tx, sinceMs: number): Promise<ReadonlyMap<string, number>> => {
    const completed = "state = 'completed' AND completed_at_ms >= @sinceMs";
    const from =
      tx.dialect === "postgres"
        ? `SELECT slug FROM jobs WHERE completed_at_ms IS NOT NULL AND ${completed}`
        : `SELECT slug FROM jobs INDEXED BY jobs_ended WHERE ${LISTED} AND ${completed}
           UNION ALL
           SELECT slug FROM jobs INDEXED BY jobs_unlisted WHERE ${UNLISTED} AND ${completed}`;
    const sql = `SELECT slug, count(*) AS count FROM (${from}) AS completed GROUP BY slug`;
    const rows = await tx.all<{ slug: string; count: number }>(sql, { sinceMs });
    return new Map(rows.map(({ slug, count }) => [slug, count]));
  }),
};

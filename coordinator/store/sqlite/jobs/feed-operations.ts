import type Database from "better-sqlite3";
import type { ChunkToWrite, HotWrites } from "../../hot-writes.ts";
import { piecesToWrite, type Piece } from "../../large-json.ts";
import { REFUSALS } from "../../refusals.ts";
import { foldFeed, itemsOf, splitChunk, type StoredChunkRow } from "../../feed-layout.ts";

export type FeedOperations = Pick<HotWrites, "appendFeed">;

export function feedOperations(db: Database.Database): FeedOperations {
  const insert = db.prepare<[string, number, number | null, string, string]>(
    "INSERT INTO feed_chunks (job_id, attempt, seq, items, text) VALUES (?, ?, ?, ?, ?) ON CONFLICT (job_id, attempt, seq) DO NOTHING",
  );
  const findJob = db.prepare<[string], number>("SELECT 1 FROM jobs WHERE id = ?").pluck();
  const insertPieces = prepareInsertPieces(db);
  return {
    appendFeed({ jobId, attempt, seq, items, text, pieces }) {
      if (findJob.get(jobId) === undefined) throw REFUSALS.no_job();
      if (insert.run(jobId, attempt, seq, items, text).changes > 0) insertPieces(jobId, pieces);
    },
  };
}

export function prepareInsertPieces(db: Database.Database): (jobId: string, pieces: readonly Piece[]) => void {
  const insert = db.prepare<[string, string, number, string]>(
    "INSERT INTO large_pieces (job_id, name, piece, text) VALUES (?, ?, ?, ?)",
  );
  return (jobId, pieces) => {
    for (const { name, piece, text } of pieces) insert.run(jobId, name, piece, text);
  };
}

export interface FoldOptions {
  /** The text is the output of the job, and is kept even if it is empty. */
  readonly isOutput: boolean;
  /** What the job said last, which has no row. */
  readonly lastChunk: ChunkToWrite | null;
}

/** Replaces the chunks of an ended job's feed by one row, which `unfoldFeed` reads. */
export function prepareFold(db: Database.Database): (jobId: string, options: FoldOptions) => void {
  const select = db.prepare<[string], StoredChunkRow>(
    "SELECT attempt, seq, items, text FROM feed_chunks WHERE job_id = ? ORDER BY ord",
  );
  const insertPieces = prepareInsertPieces(db);
  const insert = db.prepare<[string, string, string | null]>(
    "INSERT INTO job_feeds (job_id, layout, text) VALUES (?, ?, ?)",
  );
  const remove = db.prepare<[string]>("DELETE FROM feed_chunks WHERE job_id = ?");
  return (jobId, { isOutput, lastChunk }) => {
    const rows = select.all(jobId);
    const chunks = lastChunk === null ? rows : [...rows, lastChunk];
    if (chunks.length === 0 && !isOutput) return;
    const parts = chunks.map((row) => {
      const { attempt, seq } = row;
      // An earlier version kept large images in the chunks themselves.
      const { items, large } = splitChunk({ attempt, seq, items: itemsOf(row) });
      for (const value of large) insertPieces(jobId, piecesToWrite(value));
      return { attempt, items };
    });
    const { layout, text } = foldFeed(parts);
    insert.run(jobId, layout, text === "" && !isOutput ? null : text);
    if (rows.length > 0) remove.run(jobId);
  };
}

import type Database from "better-sqlite3";
import type { ChunkToWrite, HotWrites } from "../../jobs/hot-writes.ts";
import { splitLarge, type Piece } from "../../jobs/large-json.ts";
import { feedChunkTable, jobFeedTable, largePieceTable } from "../../jobs/job-tables.ts";
import { REFUSALS } from "../../refusals.ts";
import { prepareInsert } from "../engine/sqlite-tx.ts";
import { foldFeed, unfoldItems, splitChunk, type StoredChunkRow } from "../../jobs/feed-layout.ts";

export function feedOperations(db: Database.Database): Pick<HotWrites, "appendFeed"> {
  const members = ["jobId", "attempt", "seq", "items", "text"] as const;
  const insert = prepareInsert(db, feedChunkTable, members, "ON CONFLICT (job_id, attempt, seq) DO NOTHING");
  const findJob = db.prepare<[string], number>("SELECT 1 FROM jobs WHERE id = ?").pluck();
  const insertPieces = prepareInsertPieces(db);
  return {
    appendFeed({ pieces, ...chunk }) {
      if (findJob.get(chunk.jobId) === undefined) throw REFUSALS.no_job();
      if (insert(chunk) > 0) insertPieces(chunk.jobId, pieces);
    },
  };
}

export function prepareInsertPieces(db: Database.Database): (jobId: string, pieces: readonly Piece[]) => void {
  const insert = prepareInsert(db, largePieceTable, ["jobId", "name", "piece", "text"]);
  return (jobId, pieces) => {
    for (const piece of pieces) insert({ ...piece, jobId });
  };
}

/**
 * Returns a function that replaces the chunks of an ended job's feed by one row. `lastChunk` is a final chunk that is
 * not stored yet, or null. If `isOutput`, the text is the job's output, and an empty text is stored too.
 */
export function prepareFold(
  db: Database.Database,
): (jobId: string, lastChunk: ChunkToWrite | null, isOutput: boolean) => void {
  // With ORDER BY and a parameter, SQLite would prepare the statement again for each run.
  const select = db.prepare<[string], StoredChunkRow & { readonly ord: number }>(
    "SELECT ord, attempt, seq, items, text FROM feed_chunks WHERE job_id = ?",
  );
  const insertPieces = prepareInsertPieces(db);
  const insert = prepareInsert(db, jobFeedTable, ["jobId", "layout", "text"]);
  const remove = db.prepare<[string]>("DELETE FROM feed_chunks WHERE job_id = ?");
  return (jobId, lastChunk, isOutput) => {
    const rows = select.all(jobId).sort((one, other) => one.ord - other.ord);
    const chunks = lastChunk === null ? rows : [...rows, lastChunk];
    if (chunks.length === 0 && !isOutput) return;
    const parts = chunks.map((row) => {
      const { attempt, seq } = row;
      // An earlier version stored large images inside the chunks.
      const { items, large } = splitChunk({ attempt, seq, items: unfoldItems(row) });
      for (const value of large) insertPieces(jobId, splitLarge(value));
      return { attempt, items };
    });
    const { layout, text } = foldFeed(parts);
    insert({ jobId, layout, text: text === "" && !isOutput ? null : text });
    if (rows.length > 0) remove.run(jobId);
  };
}

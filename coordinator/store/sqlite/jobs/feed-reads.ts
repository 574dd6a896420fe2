import type Database from "better-sqlite3";
import { LargeJson, type LargeRef } from "../../large-json.ts";
import type { FeedItem, FeedPart, FeedProgress } from "../../job-store.ts";
import {
  feedItemOf,
  itemsOf,
  unfoldFeed,
  type StoredChunkRow,
  type StoredItem,
  type StoredPart,
} from "../../feed-layout.ts";
import { progressOf } from "../../feed-progress.ts";

/** Reads feeds: the chunks of a job that has not ended, or the one row that is left of them; and large values, piece by piece. */
export class FeedReads {
  readonly #selectChunks: Database.Statement<[string], StoredChunkRow>;
  readonly #selectFolded: Database.Statement<[string], { layout: string; text: string | null }>;
  readonly #selectPiece: Database.Statement<[string, string, number], string>;

  constructor(db: Database.Database) {
    this.#selectChunks = db.prepare("SELECT attempt, seq, items, text FROM feed_chunks WHERE job_id = ? ORDER BY ord");
    this.#selectFolded = db.prepare("SELECT layout, text FROM job_feeds WHERE job_id = ?");
    this.#selectPiece = db
      .prepare<[string, string, number], string>(
        "SELECT text FROM large_pieces WHERE job_id = ? AND name = ? AND piece = ?",
      )
      .pluck();
  }

  parts(jobId: string): FeedPart[] {
    return this.#stored(jobId).map(({ attempt, items }) => ({
      attempt,
      items: items.map((item) => feedItemOf(item, (ref) => this.large(jobId, ref))),
    }));
  }

  /** One row after the other: a row of an earlier version may have 8 MB. */
  progress(jobId: string, attempt: number): FeedProgress {
    return progressOf(this.#selectChunks.iterate(jobId), attempt);
  }

  /** The items of a chunk that is being stored. */
  storedItems(jobId: string, items: readonly StoredItem[], appended: Promise<void>): readonly FeedItem[] {
    return items.map((item) => feedItemOf(item, (ref) => this.large(jobId, ref, appended)));
  }

  /** A large value of a job. `stored`: resolves when it can be read. */
  large(jobId: string, { name, chars }: LargeRef, stored?: Promise<unknown>): LargeJson {
    const readPiece = async (piece: number): Promise<string | undefined> => {
      await stored;
      return this.#selectPiece.get(jobId, name, piece);
    };
    return new LargeJson(chars, readPiece, { name, written: stored });
  }

  #stored(jobId: string): readonly StoredPart[] {
    const folded = this.#selectFolded.get(jobId);
    if (folded !== undefined) return unfoldFeed({ layout: folded.layout, text: folded.text ?? "" });
    return this.#selectChunks.all(jobId).map((row) => ({ attempt: row.attempt, items: itemsOf(row) }));
  }
}

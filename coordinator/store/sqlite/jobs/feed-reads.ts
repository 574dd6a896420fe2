import type Database from "better-sqlite3";
import { LargeJson } from "../../large-json.ts";
import type { FeedItem, FeedPart, FeedProgress } from "../../job-store.ts";
import { feedItemOf, unfoldFeed, type LargeRef, type StoredItem, type StoredPart } from "./feed-layout.ts";

interface ProgressRow {
  readonly attempt: number;
  readonly lastSeq: number;
  readonly items: number;
  readonly outputs: number;
  readonly images: number;
  /** Tokens with text. */
  readonly texts: number;
  readonly tokens: number;
  readonly bytes: number;
  readonly largeBytes: number;
}

/** Reads feeds: the chunks of a job that has not ended, or the one row that is left of them; and large values, piece by piece. */
export class FeedReads {
  readonly #selectChunks: Database.Statement<[string], { attempt: number; items: string }>;
  readonly #selectFolded: Database.Statement<[string], { layout: string; text: string | null }>;
  readonly #selectProgress: Database.Statement<[string], ProgressRow>;
  readonly #selectPiece: Database.Statement<[string, string, number], string>;

  constructor(db: Database.Database) {
    this.#selectChunks = db.prepare("SELECT attempt, items FROM feed_chunks WHERE job_id = ? ORDER BY ord");
    this.#selectFolded = db.prepare("SELECT layout, text FROM job_feeds WHERE job_id = ?");
    // In SQLite's memory, one row after the other: a row of an earlier version may have 8 MB.
    this.#selectProgress = db.prepare(
      `SELECT attempt, coalesce(max(seq), 0) AS lastSeq, count(*) AS items,
         count(*) FILTER (WHERE item ->> 'type' <> 'status') AS outputs,
         count(*) FILTER (WHERE item ->> 'type' = 'image') AS images,
         count(*) FILTER (WHERE item ->> 'content' <> '') AS texts,
         coalesce(sum(item ->> 'count') FILTER (WHERE item ->> 'type' = 'token'), 0) AS tokens,
         sum(length(item)) AS bytes, coalesce(sum(item ->> '$.large.chars'), 0) AS largeBytes
       FROM (SELECT attempt, seq, json_each.value AS item FROM feed_chunks, json_each(feed_chunks.items) WHERE job_id = ?)
       GROUP BY attempt ORDER BY attempt`,
    );
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

  progress(jobId: string, attempt: number): FeedProgress {
    const rows = this.#selectProgress.all(jobId);
    const sum = (field: "items" | "tokens" | "bytes" | "largeBytes"): number =>
      rows.reduce((total, row) => total + row[field], 0);
    return {
      items: sum("items"),
      tokens: sum("tokens"),
      bytes: sum("bytes"),
      largeBytes: sum("largeBytes"),
      outputs: rows.filter(({ outputs }) => outputs > 0).map((row) => ({ attempt: row.attempt, count: row.outputs })),
      hasOutput: rows.some(({ images, texts }) => images + texts > 0),
      hasText: rows.some(({ texts }) => texts > 0),
      lastSeq: rows.find((row) => row.attempt === attempt)?.lastSeq ?? 0,
    };
  }

  /** The items of a chunk that is being stored. */
  storedItems(jobId: string, items: readonly StoredItem[], appended: Promise<void>): readonly FeedItem[] {
    return items.map((item) => feedItemOf(item, (ref) => this.large(jobId, ref, appended)));
  }

  /** A large value of a job. `stored`: resolves when it can be read. */
  large(jobId: string, { name, chars }: LargeRef, stored?: Promise<unknown>): LargeJson {
    return new LargeJson(chars, async (piece) => {
      await stored;
      return this.#selectPiece.get(jobId, name, piece);
    });
  }

  #stored(jobId: string): readonly StoredPart[] {
    const folded = this.#selectFolded.get(jobId);
    if (folded !== undefined) return unfoldFeed({ layout: folded.layout, text: folded.text ?? "" });
    return this.#selectChunks
      .all(jobId)
      .map(({ attempt, items }) => ({ attempt, items: JSON.parse(items) as StoredItem[] }));
  }
}

import { LargeJson } from "../../large-json.ts";
import type { FeedItem, FeedPart, FeedProgress } from "../../job-store.ts";
import {
  feedItemOf,
  itemsOf,
  unfoldFeed,
  type LargeRef,
  type StoredChunkRow,
  type StoredItem,
  type StoredPart,
} from "../../feed-layout.ts";
import { progressOf } from "../../feed-progress.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";
import { innerFromColumn } from "../engine/text.ts";

/** Reads feeds: the chunks of a job that has not ended, or the one row that is left of them; and large values, piece by piece. */
export class FeedReads {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  parts(jobId: string): Promise<FeedPart[]> {
    return this.#db.untilDone(async (session) =>
      (await stored(session, jobId)).map(({ attempt, items }) => ({
        attempt,
        items: items.map((item) => feedItemOf(item, (ref) => this.large(jobId, ref))),
      })),
    );
  }

  progress(jobId: string, attempt: number): Promise<FeedProgress> {
    return this.#db.untilDone(async (session) => progressOf(await chunks(session, jobId), attempt));
  }

  /** The items of a chunk that is being stored. */
  storedItems(jobId: string, items: readonly StoredItem[], appended: Promise<void>): readonly FeedItem[] {
    return items.map((item) => feedItemOf(item, (ref) => this.large(jobId, ref, appended)));
  }

  /** A large value of a job. `written`: resolves when it can be read. */
  large(jobId: string, { name, chars }: LargeRef, written?: Promise<unknown>): LargeJson {
    return new LargeJson(chars, async (piece) => {
      await written;
      const row = await this.#db.use((session) =>
        session.one<{ text: string }>("SELECT text FROM large_pieces WHERE job_id = $1 AND name = $2 AND piece = $3", [
          jobId,
          name,
          piece,
        ]),
      );
      return row?.text;
    });
  }
}

async function stored(session: Session, jobId: string): Promise<readonly StoredPart[]> {
  const folded = await session.one<{ layout: string; text: string | null }>(
    "SELECT layout, text FROM job_feeds WHERE job_id = $1",
    [jobId],
  );
  if (folded !== undefined) return unfoldFeed({ layout: folded.layout, text: innerFromColumn(folded.text ?? "") });
  return (await chunks(session, jobId)).map((row) => ({ attempt: row.attempt, items: itemsOf(row) }));
}

async function chunks(session: Session, jobId: string): Promise<StoredChunkRow[]> {
  const rows = await session.all<StoredChunkRow & { text: string }>(
    "SELECT attempt, seq, items, text FROM feed_chunks WHERE job_id = $1 ORDER BY ord",
    [jobId],
  );
  return rows.map((row) => ({ ...row, text: innerFromColumn(row.text) }));
}

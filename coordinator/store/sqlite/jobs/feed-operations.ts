import type Database from "better-sqlite3";
import { ServiceError } from "../../../../shared/errors.ts";

export interface FeedOperations {
  /** `items`: JSON text of an array. */
  appendFeed(args: { jobId: string; attempt: number; seq: number | null; items: string }): void;
}

export function feedOperations(db: Database.Database): FeedOperations {
  const insert = db.prepare<[string, number, number | null, string]>(
    "INSERT INTO feed_chunks (job_id, attempt, seq, items) VALUES (?, ?, ?, ?) ON CONFLICT (job_id, attempt, seq) DO NOTHING",
  );
  const findJob = db.prepare<[string], number>("SELECT 1 FROM jobs WHERE id = ?").pluck();
  return {
    appendFeed({ jobId, attempt, seq, items }) {
      if (findJob.get(jobId) === undefined) throw new ServiceError("not_found", "There is no such job");
      insert.run(jobId, attempt, seq, items);
    },
  };
}

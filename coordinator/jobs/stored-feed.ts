import { isTerminal } from "../../shared/job-state.ts";
import type { JobStore } from "../store/jobs/jobs.ts";
import { JobFeed, type Feed, type FeedEnding } from "./feed.ts";
import { feedEndingOf } from "./job-ending.ts";

/** Reads a feed from storage: complete if the job has ended, else its stored part. Undefined if the output is gone. */
export async function readStoredFeed(store: Pick<JobStore, "get" | "feed">, jobId: string): Promise<Feed | undefined> {
  const record = await store.get(jobId);
  if (record === undefined || record.outputRemovedAtMs !== null) return undefined;
  const ending = isTerminal(record.state) ? feedEndingOf(record) : null;
  return new JobFeed(jobId, await store.feed(jobId), ending);
}

/** Returns a feed that has only an ending, for a job whose output is gone. */
export function endedFeed(jobId: string, ending: FeedEnding): Feed {
  return new JobFeed(jobId, [], ending);
}

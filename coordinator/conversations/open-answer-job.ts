import { ServiceError } from "../../shared/errors.ts";
import type { FeedEnding } from "../jobs/feed.ts";
import { feedEndingOf } from "../jobs/job-ending.ts";
import type { JobApi } from "../jobs/job-service.ts";
import { endedFeed } from "../jobs/stored-feed.ts";
import type { AnswerJob } from "./active-answer.ts";

const GONE: FeedEnding = {
  type: "error",
  code: "internal",
  message: "The job of this answer is gone",
  retryable: false,
};

/**
 * The job of an answer, with its feed. If its output was removed, or the job is gone, the feed has nothing but its end. `known`: what was
 * read of it before.
 * @throws {ServiceError} while storage or the job's owner cannot be reached.
 */
export async function openAnswerJob(
  jobs: Pick<JobApi, "get" | "openFeed">,
  accountId: string,
  id: string,
  known?: Pick<AnswerJob, "slug" | "input">,
): Promise<AnswerJob> {
  try {
    const feed = await jobs.openFeed(accountId, id);
    const { slug, input } = known ?? (await jobs.get(accountId, id));
    return { id, slug, input, feed };
  } catch (error) {
    if (!isOf(error, "content_removed") && !isOf(error, "not_found")) throw error;
    const ending = isOf(error, "not_found") ? GONE : await endingOf(jobs, accountId, id);
    return { id, slug: "", input: {}, feed: endedFeed(id, ending) };
  }
}

/** Of a job that has ended. */
async function endingOf(jobs: Pick<JobApi, "get">, accountId: string, id: string): Promise<FeedEnding> {
  try {
    return feedEndingOf({ ...(await jobs.get(accountId, id)), output: undefined });
  } catch (error) {
    if (isOf(error, "not_found")) return GONE;
    throw error;
  }
}

function isOf(error: unknown, code: "content_removed" | "not_found"): boolean {
  return error instanceof ServiceError && error.code === code;
}

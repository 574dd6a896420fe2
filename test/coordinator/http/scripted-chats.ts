import type { JobErrorCode } from "../../../shared/errors.ts";
import type { FeedItem } from "../../../coordinator/store/jobs/job-store.ts";
import { EXPLAIN_EVERY_MS } from "../../../coordinator/http/streaming/sse.ts";
import { eventually, type Api } from "./api.ts";
import { DONE, type WatchedFeed } from "./scripted-jobs.ts";

export const MESSAGES = [{ role: "user" as const, content: "Hi" }];
export const token = (content: string): FeedItem => ({ type: "token", content, count: 1 });

/** Completes the next chats with these tokens. */
export function completeWith(api: Api, ...tokens: string[]): void {
  api.jobs.onSubmit = (feed) => {
    feed.push([{ type: "status", state: "pending" }]);
    if (tokens.length > 0) feed.push(tokens.map(token));
    feed.end(DONE);
  };
}

/** Fails the job of the next chat after its stream has sent its headers, before any output. */
export function failLate(api: Api, message: string, code: JobErrorCode = "wait_timeout"): void {
  const fail = async (feed: WatchedFeed): Promise<void> => {
    await eventually(() => feed.listeners === 1);
    api.clock.advance(EXPLAIN_EVERY_MS);
    await eventually(() => api.clock.pendingTimers === 1 && feed.listeners === 1);
    feed.end({ type: "error", code, message, retryable: true });
  };
  api.jobs.onSubmit = (feed, job) => {
    const waiting = { reason: "all_busy" as const, position: 1, message: "1 Island fits, but it is busy" };
    api.jobs.jobs.set(job.id, { ...job, waiting });
    void fail(feed);
  };
}

/** Fails the jobs of the next chats after these tokens. */
export function failWith(api: Api, code: JobErrorCode | "cancelled", ...tokens: string[]): void {
  api.jobs.onSubmit = (feed) => {
    feed.push([{ type: "status", state: "pending" }, ...tokens.map(token)]);
    feed.end({ type: "error", code, message: "because", retryable: true });
  };
}

import type { JobErrorCode } from "../../../shared/errors.ts";
import type { FeedItem } from "../../../coordinator/store/job-store.ts";
import type { Api } from "./api.ts";
import { DONE } from "./scripted-jobs.ts";

export const MESSAGES = [{ role: "user", content: "Hi" }];
export const token = (content: string): FeedItem => ({ type: "token", content, count: 1 });

/** Answers the next chats with these tokens. */
export function answerWith(api: Api, ...tokens: string[]): void {
  api.jobs.onSubmit = (feed) => {
    feed.push([{ type: "status", state: "pending" }]);
    if (tokens.length > 0) feed.push(tokens.map(token));
    feed.end(DONE);
  };
}

/** Lets the jobs of the next chats fail after these tokens. */
export function failWith(api: Api, code: JobErrorCode | "cancelled", ...tokens: string[]): void {
  api.jobs.onSubmit = (feed) => {
    feed.push([{ type: "status", state: "pending" }, ...tokens.map(token)]);
    feed.end({ type: "error", code, message: "because", retryable: true });
  };
}

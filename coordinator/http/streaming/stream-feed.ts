import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Identity } from "../../accounts/identity.ts";
import type { Feed } from "../../jobs/feed.ts";
import { FEED_START, type FeedPosition } from "../../jobs/feed-position.ts";
import type { JobWait } from "../../jobs/job-waiting.ts";
import type { HttpDeps } from "../http-deps.ts";
import { FeedRelay, type FeedEncoder } from "./sse.ts";

export interface FeedStream {
  readonly response: ServerResponse;
  /** The caller. The stream is cut off when its key or session is revoked. */
  readonly identity: Identity;
  readonly feed: Feed;
  readonly encoder: FeedEncoder;
  /** The reader has this already; nothing by default. */
  readonly after?: FeedPosition;
  /** Called when the stream ends because the feed is cut. */
  readonly onCut?: () => void;
  /** Another feed comes before this one on the response. */
  readonly isContinued?: boolean;
  /** Called in place of the stream's end if the feed ends in `done`: another one follows. */
  readonly onDone?: () => void;
}

/** Streams a feed to the client as Server-Sent Events until the feed or the client ends. Returns what a Hono handler returns. */
export function streamFeed(
  { accounts, clock, jobs, options }: Pick<HttpDeps, "accounts" | "clock" | "jobs" | "options">,
  { response, identity, feed, encoder, after = FEED_START, onCut, isContinued, onDone }: FeedStream,
): Response {
  const mayRead = (): Promise<boolean> => accounts.isStillValid(identity);
  const explain = (): Promise<JobWait | null> => jobs.explain(identity.accountId, feed.jobId);
  const { heartbeatMs } = options;
  const handlers = { explain, mayRead, onCut, onDone };
  void new FeedRelay({ feed, after, encoder, response, clock, heartbeatMs, isContinued, ...handlers });
  return RESPONSE_ALREADY_SENT;
}

import { RateLimitedError } from "../../shared/errors.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import { Pool } from "./pool.ts";
import type { RequestCount } from "./request-window.ts";

/** Whose request is counted. */
export interface RequestCaller {
  readonly accountId: string;
  /** Unique among keys and sessions. */
  readonly credential: string;
  /** Requests that the credential may make in a minute. */
  readonly limit: number;
}

/** Ends a stream's count. May be called twice. */
export type ReleaseStream = () => void;

/** Counts requests and open streams. The answer is a promise only where another coordinator has to be asked. */
export interface CallerQuota {
  countRequest(caller: RequestCaller): RequestCount | Promise<RequestCount>;
  /** @throws {RateLimitedError} if the account has `limit` open streams already. */
  openStream(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream>;
}

/** Counts the open streams of each account: of jobs, chats and conversations. */
export function streamPool(): Pool<"account"> {
  return new Pool({ account: Infinity });
}

/** Opens a stream. @throws {RateLimitedError} if the account has `limit` open already. */
export function enterStream(streams: Pool<"account">, accountId: string, limit: number): ReleaseStream {
  const close = streams.take([["account", accountId]], 1, { account: limit });
  if (close === "account") throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
  return close;
}

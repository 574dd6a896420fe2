import { RateLimitedError } from "../../shared/errors.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import { Pool } from "./pool.ts";
import type { RequestCount } from "./request-window.ts";

export interface RequestCaller {
  readonly accountId: string;
  /** Unique among keys and sessions. */
  readonly credential: string;
  /** Maximum requests of the credential in a minute. */
  readonly limit: number;
}

/** Releases an open stream. May be called twice. */
export type ReleaseStream = () => void;

/** Counts requests and open streams. Results are promises only if another coordinator must be asked. */
export interface CallerQuota {
  countRequest(caller: RequestCaller): RequestCount | Promise<RequestCount>;
  /** @throws {RateLimitedError} if the account already has `limit` open streams. */
  openStream(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream>;
}

/** Counts the open streams of each account. */
export function streamPool(): Pool<"account"> {
  return new Pool({ account: Infinity });
}

/** @throws {RateLimitedError} as `openStream` */
export function enterStream(streams: Pool<"account">, accountId: string, limit: number): ReleaseStream {
  const close = streams.take([["account", accountId]], 1, { account: limit });
  if (close === "account") throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
  return close;
}

import { RateLimitedError } from "../../shared/errors.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import { Pool } from "./pool.ts";
import type { RequestCount } from "./request-window.ts";

/** The credential whose requests are counted. */
export interface RequestCaller {
  readonly accountId: string;
  /** Id of the key or session, unique among both. */
  readonly credential: string;
  /** Maximum requests of the credential per minute. */
  readonly limit: number;
}

/** Releases the quota of an open stream. May be called twice. */
export type ReleaseStream = () => void;

/** Counts requests and open streams. A result is a promise only if another coordinator is queried. */
export interface CallerQuota {
  countRequest(caller: RequestCaller): RequestCount | Promise<RequestCount>;
  /** Counts a stream of the account. @throws {RateLimitedError} if the account already has `limit` open streams. */
  openStream(accountId: string, limit: number): ReleaseStream | Promise<ReleaseStream>;
}

/** Returns a counter of the open streams by account. */
export function streamPool(): Pool<"account"> {
  return new Pool({ account: Infinity });
}

/** Counts a stream of the account in `streams`. @throws {RateLimitedError} like `openStream` */
export function enterStream(streams: Pool<"account">, accountId: string, limit: number): ReleaseStream {
  const close = streams.take([["account", accountId]], 1, { account: limit });
  if (close === "account") throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
  return close;
}

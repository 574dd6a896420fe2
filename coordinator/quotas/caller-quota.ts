import type { Clock } from "../../shared/clock.ts";
import { RequestWindow, type RequestCount } from "./request-window.ts";
import { StreamQuota } from "./stream-quota.ts";

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

/** Of a coordinator that is alone. */
export class LocalQuota implements CallerQuota {
  readonly #requests: RequestWindow;
  readonly #streams = new StreamQuota();

  constructor(clock: Clock) {
    this.#requests = new RequestWindow(clock);
  }

  countRequest({ credential, limit }: RequestCaller): RequestCount {
    return this.#requests.count(credential, limit);
  }

  openStream(accountId: string, limit: number): ReleaseStream {
    return this.#streams.enter(accountId, limit);
  }
}

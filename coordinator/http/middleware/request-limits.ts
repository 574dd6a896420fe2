import type { IncomingMessage, ServerResponse } from "node:http";
import type { MiddlewareHandler } from "hono";
import type { Clock } from "../../../shared/clock.ts";
import { RateLimitedError } from "../../../shared/errors.ts";
import type { Identity } from "../../accounts/account-service.ts";
import { RequestWindow, type RequestCount } from "../../quotas/request-window.ts";
import { StreamQuota } from "../../quotas/stream-quota.ts";
import { CallerStreams, callerOf } from "./caller-streams.ts";
import { clientAddress } from "../server/client-address.ts";
import type { HttpDeps, HttpEnv, HttpOptions } from "../http-deps.ts";

const MS_PER_S = 1_000;

/** What callers may ask in a minute, and how many streams they may keep open. Source: spec §8, DESIGN §4 row Quotas. */
export class RequestLimits {
  readonly #clock: Clock;
  readonly #options: Pick<HttpOptions, "trustProxy" | "publicRequestsPerMinute">;
  /** Apart, so that a flood of addresses makes no key forgotten. */
  readonly #callers: RequestWindow;
  readonly #addresses: RequestWindow;
  readonly #streams = new StreamQuota();
  readonly #openStreams = new CallerStreams();

  constructor({ clock, options }: Pick<HttpDeps, "clock" | "options">) {
    this.#clock = clock;
    this.#options = options;
    this.#callers = new RequestWindow(clock);
    this.#addresses = new RequestWindow(clock);
  }

  /**
   * Counts a request of a key or session and tells in the answer's headers where it stands: the limit, what is left of it, and
   * the Unix time in seconds at which the oldest request counted gives its place back.
   * @throws {RateLimitedError}
   */
  countCaller(identity: Identity, response: ServerResponse): void {
    const limit = identity.limits.requestsPerMinute;
    const count = this.#callers.count(callerOf(identity), limit);
    response.setHeader("X-RateLimit-Limit", limit);
    response.setHeader("X-RateLimit-Remaining", count.remaining);
    response.setHeader("X-RateLimit-Reset", Math.ceil((this.#clock.now() + count.freesInMs) / MS_PER_S));
    refuseOver(count);
  }

  /** Counts a request of which no key or session is known. @throws {RateLimitedError} */
  countAddress(incoming: IncomingMessage): void {
    refuseOver(this.#addresses.count(clientAddress(incoming, this.#options), this.#options.publicRequestsPerMinute));
  }

  /** Counts a stream of the account as open until `response` is closed, by whomever. @throws {RateLimitedError} */
  openStream(identity: Identity, response: ServerResponse): void {
    const { accountId, limits } = identity;
    const close = this.#streams.enter(accountId, limits.concurrentStreams);
    response.once("close", close);
    this.#openStreams.add(identity, response);
    // A client that left before now brings no other event.
    if (response.destroyed) close();
  }

  /** Cuts off the streams of a key (by its id) or session (by its token's hash) that is no more. */
  endStreams(caller: string): void {
    this.#openStreams.end(caller);
  }
}

/** Puts the limits where every handler finds them. */
export function requestLimits(deps: Pick<HttpDeps, "clock" | "options">): MiddlewareHandler<HttpEnv> {
  const limits = new RequestLimits(deps);
  return async (c, next) => {
    c.set("limits", limits);
    await next();
  };
}

function refuseOver({ isAllowed, freesInMs }: RequestCount): void {
  if (!isAllowed) throw new RateLimitedError("requests_per_minute", Math.max(1, Math.ceil(freesInMs / MS_PER_S)));
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../shared/clock.ts";
import { OverloadedError, RateLimitedError } from "../../../shared/errors.ts";
import type { Identity } from "../../accounts/identity.ts";
import type { MemoryBudgets } from "../../config/memory-settings.ts";
import type { CoordinatorConfig } from "../../config/resolve-config.ts";
import { localQuota, type CallerQuota, type ReleaseStream } from "../../quotas/caller-quota.ts";
import { RequestWindow, type RequestCount } from "../../quotas/request-window.ts";
import { clientAddress } from "../server/client-address.ts";
import { EventStreams } from "./event-streams.ts";

const MS_PER_S = 1_000;

type Options = Pick<CoordinatorConfig, "trustProxy" | "publicRequestsPerMinute"> &
  Pick<MemoryBudgets, "answerMemoryBytes">;

/**
 * Requests per minute of each credential and of each client address, and open streams of each account. Handlers reach it as
 * `c.get("limits")`. Source: spec §8, decision 0035.
 */
export class RequestLimits {
  readonly #clock: Clock;
  readonly #options: Options;
  /** Apart from the addresses, so that a flood of these does not push out the counts of keys. */
  readonly #callers: CallerQuota;
  readonly #addresses: RequestWindow;
  /** Open streams of each credential (API key or session), which end when the credential does. None is empty. */
  readonly #openStreams = new Map<string, { readonly accountId: string; readonly responses: Set<ServerResponse> }>();
  readonly #eventStreams = new EventStreams();
  readonly #metrics: { readonly http: { openStreams: number } };
  /** Bytes of large answers that are in memory until their clients have read them. */
  #answerBytes = 0;

  /** @param quota Absent: counts requests and streams of this coordinator alone. */
  constructor(
    options: Options,
    clock: Clock,
    metrics: { readonly http: { openStreams: number } },
    quota?: CallerQuota,
  ) {
    this.#clock = clock;
    this.#options = options;
    this.#callers = quota ?? localQuota(clock);
    this.#metrics = metrics;
    this.#addresses = new RequestWindow(clock);
  }

  /**
   * Counts a request of a key or session and sets the X-RateLimit headers: the limit, what is left of it, and the Unix time in
   * seconds at which the oldest counted request leaves the window. A promise only where another coordinator counts.
   * @throws {RateLimitedError}
   */
  countCaller(identity: Identity, response: ServerResponse): Promise<void> | undefined {
    const limit = identity.limits.requestsPerMinute;
    const caller = { accountId: identity.accountId, credential: credentialIdOf(identity), limit };
    const counted = this.#callers.countRequest(caller);
    if (counted instanceof Promise) return counted.then((count) => this.#tell(response, limit, count));
    this.#tell(response, limit, counted);
    return undefined;
  }

  #tell(response: ServerResponse, limit: number, count: RequestCount): void {
    response.setHeader("X-RateLimit-Limit", limit);
    response.setHeader("X-RateLimit-Remaining", count.remaining);
    response.setHeader("X-RateLimit-Reset", Math.ceil((this.#clock.now() + count.freesInMs) / MS_PER_S));
    refuseOver(count);
  }

  /** Counts a request without a known key or session for the client's address. @throws {RateLimitedError} */
  countAddress(incoming: IncomingMessage): void {
    refuseOver(this.#addresses.count(clientAddress(incoming, this.#options), this.#options.publicRequestsPerMinute));
  }

  /** Counts an open stream of the account until `response` closes, from either side. @throws {RateLimitedError} */
  openStream(identity: Identity, response: ServerResponse): Promise<void> | undefined {
    const { accountId, limits } = identity;
    const opened = this.#callers.openStream(accountId, limits.concurrentStreams);
    if (opened instanceof Promise) return opened.then((release) => this.#addStream(identity, response, release));
    this.#addStream(identity, response, opened);
    return undefined;
  }

  /** Counts a stream of events until `response` closes; see {@link EventStreams}. @throws {RateLimitedError} and {@link OverloadedError} */
  async openEvents(identity: Identity, response: ServerResponse): Promise<void> {
    const { accountId, limits } = identity;
    const openPlace = () => this.#callers.openStream(accountId, limits.concurrentStreams);
    this.#addStream(identity, response, await this.#eventStreams.enter(accountId, openPlace));
  }

  #addStream(identity: Identity, response: ServerResponse, release: ReleaseStream): void {
    // The client has left already, so "close" never comes.
    if (response.destroyed) return release();
    const credential = credentialIdOf(identity);
    const streams = this.#openStreams.get(credential) ?? { accountId: identity.accountId, responses: new Set() };
    this.#openStreams.set(credential, streams);
    streams.responses.add(response);
    this.#metrics.http.openStreams += 1;
    response.once("close", () => {
      this.#metrics.http.openStreams -= 1;
      release();
      streams.responses.delete(response);
      if (streams.responses.size === 0 && this.#openStreams.get(credential) === streams) {
        this.#openStreams.delete(credential);
      }
    });
    return undefined;
  }

  /**
   * Counts an answer that is in memory as an open stream of the account, and its bytes, until `response` closes.
   * @throws {RateLimitedError} and {@link OverloadedError}
   */
  async holdAnswer(identity: Identity, response: ServerResponse, bytes: number): Promise<void> {
    await this.openStream(identity, response);
    this.holdStream(response, bytes);
  }

  /** Counts what an open stream has in memory, until `response` closes. One is always taken, however large. @throws {OverloadedError} */
  holdStream(response: ServerResponse, bytes: number): void {
    if (this.#answerBytes > 0 && this.#answerBytes + bytes > this.#options.answerMemoryBytes)
      throw new OverloadedError();
    // The client has left already, so "close" never comes.
    if (response.destroyed) return;
    this.#answerBytes += bytes;
    response.once("close", () => {
      this.#answerBytes -= bytes;
    });
  }

  /**
   * Cuts the streams of a revoked key (its id) or an ended session (its token's hash), without an event, because their jobs have not ended.
   * A client that reconnects gets 401.
   */
  closeStreamsOf(credential: string): void {
    for (const response of this.#openStreams.get(credential)?.responses ?? []) response.destroy();
  }

  /** Keys and sessions with open streams. */
  openCredentials(): Iterable<string> {
    return this.#openStreams.keys();
  }

  /** Cuts all streams of suspended accounts. */
  closeStreamsOfAccounts(accountIds: ReadonlySet<string>): void {
    for (const [credential, { accountId }] of this.#openStreams) {
      if (accountIds.has(accountId)) this.closeStreamsOf(credential);
    }
  }
}

/** Unique among keys and sessions: the key's id, or the hash of the session's token. */
function credentialIdOf(identity: Identity): string {
  return identity.kind === "key" ? identity.keyId : identity.tokenHash;
}

function refuseOver({ isAllowed, freesInMs }: RequestCount): void {
  if (!isAllowed) throw new RateLimitedError("requests_per_minute", Math.max(1, Math.ceil(freesInMs / MS_PER_S)));
}

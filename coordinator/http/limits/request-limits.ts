import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../shared/clock.ts";
import { OverloadedError, RateLimitedError } from "../../../shared/errors.ts";
import type { Identity } from "../../accounts/identity.ts";
import type { MemoryBudgets } from "../../config/memory-settings.ts";
import type { CoordinatorConfig } from "../../config/resolve-config.ts";
import type { CallerQuota, ReleaseStream } from "../../quotas/caller-quota.ts";
import { type RequestCount, RequestWindow } from "../../quotas/request-window.ts";
import { RETRY_AFTER_S } from "../../store/refusals.ts";
import { Pool } from "../../quotas/pool.ts";
import { clientAddress } from "../server/client-address.ts";

const MS_PER_S = 1_000;

type Options = Pick<CoordinatorConfig, "trustProxy" | "publicRequestsPerMinute"> &
  Pick<MemoryBudgets, "answerMemoryBytes">;

export type RequestLimits = ReturnType<typeof requestLimits>;

/**
 * Limits requests per minute of each credential and of each client address, and open streams of each account. Handlers
 * get the limits from `c.get("limits")`. Source: spec §8, decision 0035.
 * @param callers Counts of keys and sessions, apart from the addresses, so that many addresses do not evict them.
 */
export function requestLimits(
  options: Options,
  clock: Clock,
  metrics: { readonly http: { openStreams: number } },
  callers: CallerQuota,
) {
  const addresses = new RequestWindow(clock);
  /** Open streams by the id of their API key or session. No set is empty. */
  const openStreams = new Map<string, { readonly accountId: string; readonly responses: Set<ServerResponse> }>();
  const openEventStream = eventStreams();
  /** Bytes of large responses that are in memory until their clients have read them. */
  let responseBytes = 0;

  function setRateHeaders(response: ServerResponse, limit: number, count: RequestCount): void {
    response.setHeader("X-RateLimit-Limit", limit);
    response.setHeader("X-RateLimit-Remaining", count.remaining);
    response.setHeader("X-RateLimit-Reset", Math.ceil((clock.now() + count.freesInMs) / MS_PER_S));
    refuseOver(count);
  }

  function addStream(identity: Identity, response: ServerResponse, release: ReleaseStream): void {
    // "close" was already emitted.
    if (response.destroyed) return release();
    const credential = credentialIdOf(identity);
    const streams = openStreams.get(credential) ?? { accountId: identity.accountId, responses: new Set() };
    openStreams.set(credential, streams);
    streams.responses.add(response);
    metrics.http.openStreams += 1;
    response.once("close", () => {
      metrics.http.openStreams -= 1;
      release();
      streams.responses.delete(response);
      if (streams.responses.size === 0 && openStreams.get(credential) === streams) openStreams.delete(credential);
    });
    return undefined;
  }

  /** Counts an open stream of the account until `response` closes, from either side. @throws {RateLimitedError} */
  function openStream(identity: Identity, response: ServerResponse): Promise<void> | undefined {
    const { accountId, limits } = identity;
    const opened = callers.openStream(accountId, limits.concurrentStreams);
    if (opened instanceof Promise) return opened.then((release) => addStream(identity, response, release));
    addStream(identity, response, opened);
    return undefined;
  }

  /**
   * Counts the bytes that an open stream has in memory, until `response` closes. Accepts any size while no other stream
   * has bytes in memory.
   * @throws {OverloadedError}
   */
  function holdStream(response: ServerResponse, bytes: number): void {
    if (responseBytes > 0 && responseBytes + bytes > options.answerMemoryBytes) throw new OverloadedError();
    // "close" was already emitted.
    if (response.destroyed) return;
    responseBytes += bytes;
    response.once("close", () => {
      responseBytes -= bytes;
    });
  }

  /** Closes the streams of a revoked key or an ended session. Writes no last event: the jobs have not ended. */
  function closeStreamsOf(credential: string): void {
    for (const response of openStreams.get(credential)?.responses ?? []) response.destroy();
  }

  return {
    openStream,
    holdStream,
    closeStreamsOf,

    /**
     * Counts a request of a key or session and sets the X-RateLimit headers. Returns a promise only if another
     * coordinator counts the requests of this credential.
     * @throws {RateLimitedError}
     */
    countCaller(identity: Identity, response: ServerResponse): Promise<void> | undefined {
      const limit = identity.limits.requestsPerMinute;
      const caller = { accountId: identity.accountId, credential: credentialIdOf(identity), limit };
      const counted = callers.countRequest(caller);
      if (counted instanceof Promise) return counted.then((count) => setRateHeaders(response, limit, count));
      setRateHeaders(response, limit, counted);
      return undefined;
    },

    /** Counts a request without a valid credential for the client's address. @throws {RateLimitedError} */
    countAddress(incoming: IncomingMessage): void {
      refuseOver(addresses.count(clientAddress(incoming, options), options.publicRequestsPerMinute));
    },

    /** Counts an event stream until `response` closes. @throws {RateLimitedError} and {@link OverloadedError} */
    async openEvents(identity: Identity, response: ServerResponse): Promise<void> {
      const { accountId, limits } = identity;
      const openSlot = () => callers.openStream(accountId, limits.concurrentStreams);
      addStream(identity, response, await openEventStream(accountId, openSlot));
    },

    /**
     * Counts a large JSON response as an open stream, and its bytes as memory, until `response` closes.
     * @throws {RateLimitedError} and {@link OverloadedError}
     */
    async holdResponse(identity: Identity, response: ServerResponse, bytes: number): Promise<void> {
      await openStream(identity, response);
      holdStream(response, bytes);
    },

    openCredentials: (): Iterable<string> => openStreams.keys(),

    closeStreamsOfAccounts(accountIds: ReadonlySet<string>): void {
      for (const [credential, { accountId }] of openStreams) {
        if (accountIds.has(accountId)) closeStreamsOf(credential);
      }
    },
  };
}

function credentialIdOf(identity: Identity): string {
  return identity.kind === "key" ? identity.keyId : identity.tokenHash;
}

function refuseOver({ isAllowed, freesInMs }: RequestCount): void {
  if (!isAllowed) throw new RateLimitedError("requests_per_minute", Math.max(1, Math.ceil(freesInMs / MS_PER_S)));
}

/** Maximum event streams of an account at this coordinator: enough for several browser tabs and programs. */
export const MAX_EVENT_STREAMS = 10;
/** Maximum event streams of all accounts at this coordinator. Each stream costs a connection and about 20 KB. */
export const MAX_ALL_STREAMS = 10_000;

/**
 * Returns a function that opens an event stream and returns a function that closes it, which may be called twice. All
 * event streams of an account share one of its open-stream slots (`openSlot`), so that console pages leave slots for
 * chats. Throws {@link RateLimitedError} and {@link OverloadedError}.
 */
export function eventStreams() {
  const open = new Pool({ all: MAX_ALL_STREAMS, account: MAX_EVENT_STREAMS });
  const slots = new Map<string, Promise<ReleaseStream>>();

  return async (accountId: string, openSlot: () => ReleaseStream | Promise<ReleaseStream>): Promise<ReleaseStream> => {
    const release = open.take([["all"], ["account", accountId]]);
    if (release === "all") {
      throw new OverloadedError("This coordinator has too many open event streams. Try again in a few seconds");
    }
    if (release === "account") throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    const close = (): void => {
      release();
      if (open.count("account", accountId) > 0) return;
      const slot = slots.get(accountId);
      slots.delete(accountId);
      slot?.then(
        (free) => free(),
        () => undefined,
      );
    };
    try {
      const slot = slots.get(accountId) ?? Promise.resolve(openSlot());
      slots.set(accountId, slot);
      await slot;
    } catch (error) {
      close();
      throw error;
    }
    return close;
  };
}

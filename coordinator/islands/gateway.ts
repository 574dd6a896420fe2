import type { IncomingMessage } from "node:http";
import type { Accounts } from "../accounts/accounts.ts";
import type { IslandIdentity } from "../accounts/identity.ts";
import { ACCOUNT_HEADER, PUBLIC_KEY_HEADER } from "../../shared/cargo-signature.ts";
import { CLOSE, SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { counter } from "../../shared/metrics.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { hashSecret } from "../accounts/secrets.ts";
import type { Env } from "../env.ts";
import { RequestWindow } from "../quotas/request-window.ts";
import { accountSessions } from "./account-sessions.ts";
import { intakeBudget } from "./intake-budget.ts";
import { SUSPENDED_RETRY_MS, type IslandConnections } from "./island-connections.ts";
import { controlRate } from "./session/frame-limits.ts";
import { IslandSession, noFrames, type SessionOwner, type SharedBySessions } from "./session/session.ts";
import type { AcceptedUpgrade, SessionSocket, SocketEvents } from "./session-socket.ts";
import { sessionWatch } from "./session/session-watch.ts";

/** Refused tokens of one address in a minute. An Island whose token is refused does not try again by itself. */
const MAX_REFUSED = 30;
/** Accepted tokens that are remembered; beyond it the one accepted longest ago is forgotten. */
const MAX_TOKENS = 10_000;

export type IslandGateway = ReturnType<typeof openIslandGateway>;

/**
 * Lets Islands in: checks the token, agrees on the protocol version, and opens sessions.
 * @param publicKey Sent to Islands that are let in; see `PUBLIC_KEY_HEADER`.
 * @param memory Bytes that frames may take until they are stored.
 * @param addressOf The client address of a request, for limits.
 */
export function openIslandGateway(
  env: Env<"heartbeatMs" | "islandSessionsPerToken" | "islandSessionsPerAccount">,
  connections: IslandConnections,
  accounts: Pick<Accounts, "authenticateIsland" | "isIslandTokenValid">,
  publicKey: string,
  memory: Parameters<typeof intakeBudget>[0],
  addressOf: (request: IncomingMessage) => string,
) {
  const { clock, log } = env;
  const { heartbeatMs } = env.config;
  const frames = noFrames();
  const refusals = counter("atoll_session_refusals_total", "Islands with a token that were not let in, by code", [
    "code",
  ]);
  const sessions = new Set<IslandSession>();
  const limit = joinLimit(clock);
  const byAccount = accountSessions(env);
  const shared: SharedBySessions = {
    ...env,
    connections,
    frames,
    intake: intakeBudget(memory),
    watch: sessionWatch(clock, heartbeatMs),
    controlRate: controlRate(heartbeatMs),
    recheck,
    onFlood: ({ tokenId }) => byAccount.punish(tokenId),
    onClosed: (session) => sessions.delete(session),
  };

  async function admit(request: IncomingMessage): Promise<AcceptedUpgrade> {
    const address = addressOf(request);
    const token = /^Bearer ([!-~]{1,200})$/i.exec(request.headers.authorization ?? "")?.[1];
    limit.assertMayTry(address, token);
    const owner = token === undefined ? undefined : await ownerOf(token, address);
    if (token === undefined || owner === undefined) {
      // A request without a token is not a failed try: an Island that joins asks for the public key this way.
      if (token !== undefined) limit.refused(address, token);
      throw new ServiceError(
        "unauthenticated",
        "The Island token is missing or not valid. Send one as: Authorization: Bearer it_…",
      );
    }
    limit.accepted(token);
    const { share, close } = byAccount.open(owner);
    return {
      headers: { [PUBLIC_KEY_HEADER]: publicKey, [ACCOUNT_HEADER]: owner.accountId },
      // Accept any version here and refuse it in a close frame: otherwise the client's library hides the reason.
      chooseProtocol: (offered) => (offered.includes(SUBPROTOCOL) ? SUBPROTOCOL : offered[0]),
      open: (socket, protocol) => open(socket, protocol, { ...owner, share }),
      release: close,
    };
  }

  function open(socket: SessionSocket, protocol: string | undefined, owner: SessionOwner): void {
    if (protocol === SUBPROTOCOL) {
      sessions.add(new IslandSession(socket, owner, shared));
      return;
    }
    socket.attach({ ...DEAF, onError: () => socket.terminate() });
    socket.close(CLOSE.protocolError, `versions spoken: ${SUBPROTOCOL}`);
  }

  /** A token of a suspended account counts as refused. */
  async function ownerOf(token: string, address: string): Promise<IslandIdentity | undefined> {
    try {
      return await accounts.authenticateIsland(token);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "account_suspended") limit.refused(address, token);
      throw error;
    }
  }

  /** Ends all sessions of a token that was revoked, also by another process. */
  function recheck({ tokenId, share }: SessionOwner): void {
    if (!share.isCheckDue(tokenId, clock.monotonicMs(), heartbeatMs)) return;
    accounts.isIslandTokenValid(tokenId).then(
      (isValid) => {
        if (!isValid) endSessionsOf(tokenId);
      },
      (error: unknown) => log.error({ err: error }, "Checking an Island token failed"),
    );
  }

  function endSessionsOf(tokenId: string): void {
    for (const session of sessions) {
      if (session.owner.tokenId === tokenId) session.dismiss("the Island token was revoked", null);
    }
  }

  return {
    /** Frames of all sessions since the start. */
    frames,
    metrics: [refusals],
    /** Ends all sessions of a token that was revoked. Ignored for an id that is no token's. */
    endSessionsOf,

    /**
     * Decides about an upgrade. The session begins when the transport opens the socket.
     * @throws {ServiceError} `unauthenticated` for a missing, unknown or revoked token; `account_suspended`; {@link RateLimitedError} when too
     *   many tokens of the address were refused, too many sessions are open or the token waits after a flood.
     */
    async upgrade(request: IncomingMessage): Promise<AcceptedUpgrade> {
      try {
        return await admit(request);
      } catch (error) {
        const hasToken = request.headers.authorization !== undefined;
        if (hasToken && error instanceof ServiceError) refusals.add([error.code]);
        throw error;
      }
    },

    /**
     * Sends every Island away and waits until all sockets are closed. They come back after `retryAfterMs`; where there are `addresses` of
     * other coordinators, they go there at once, an equal part to each.
     */
    async close(retryAfterMs: number, addresses: readonly string[] = []): Promise<void> {
      const reason = "the coordinator is going down";
      for (const [index, session] of [...sessions].entries()) {
        if (addresses.length === 0) session.dismiss(reason, retryAfterMs);
        else session.dismiss(reason, 0, addresses[index % addresses.length]);
      }
      await Promise.all([...sessions].map(({ closed }) => closed));
    },

    openTokens: (): Iterable<string> => new Set([...sessions].map(({ owner }) => owner.tokenId)),

    /** Ends all sessions of suspended accounts, also those that have not begun; their Islands ask again later. */
    endSessionsOfAccounts(accountIds: ReadonlySet<string>): void {
      for (const session of sessions) {
        if (accountIds.has(session.owner.accountId)) session.dismiss("the account is suspended", SUSPENDED_RETRY_MS);
      }
    },
  };
}

/**
 * Limits how often an address may try Island tokens that are refused. A token that was accepted before always passes, so that an
 * Island that comes back is not kept out by others behind its address. Whether it is still valid is checked later. Separate
 * from the limits of the API, so that a flood there keeps no Island out.
 */
export function joinLimit(clock: Clock, maxTokens: number = MAX_TOKENS) {
  const refusals = new RequestWindow(clock);
  const acceptedTokens = recentMap<true>(maxTokens);
  return {
    /** Call it before the token is looked up. `token` undefined: the request has none. @throws {RateLimitedError} */
    assertMayTry(address: string, token: string | undefined): void {
      const { isAllowed, freesInMs } = refusals.look(address, MAX_REFUSED);
      if (isAllowed || (token !== undefined && acceptedTokens.has(hashSecret(token)))) return;
      throw new RateLimitedError("requests_per_minute", Math.max(1, Math.ceil(freesInMs / 1_000)));
    },

    accepted(token: string): void {
      acceptedTokens.set(hashSecret(token), true);
    },

    refused(address: string, token: string): void {
      refusals.count(address, MAX_REFUSED);
      acceptedTokens.delete(hashSecret(token));
    },
  };
}

const ignore = (): void => undefined;
/** For a socket that only closes. */
const DEAF: SocketEvents = {
  onMessage: ignore,
  onRead: ignore,
  onPing: ignore,
  onPong: ignore,
  onError: ignore,
  onClose: ignore,
};

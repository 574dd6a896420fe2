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

/** Maximum number of rejected tokens per address and minute. An Island does not retry after its token is rejected. */
const MAX_REFUSED = 30;
/** Maximum number of remembered accepted tokens, and of ended credentials. The oldest is forgotten first. */
const MAX_TOKENS = 10_000;
const TOKEN_REVOKED = "the Island token was revoked";

export type IslandGateway = ReturnType<typeof openIslandGateway>;

/**
 * Accepts Islands: checks the token, negotiates the protocol version and opens sessions.
 * @param memory Limits, in bytes, of frames that are not stored yet.
 */
export function openIslandGateway(
  env: Env<"heartbeatMs" | "islandSessionsPerToken" | "islandSessionsPerAccount">,
  connections: IslandConnections,
  accounts: Pick<Accounts, "authenticateIsland">,
  publicKey: string,
  memory: Parameters<typeof intakeBudget>[0],
  addressOf: (request: IncomingMessage) => string,
) {
  const { clock, config } = env;
  const { heartbeatMs } = config;
  const frames = noFrames();
  const refusals = counter(
    "atoll_session_refusals_total",
    "Island sessions refused although a token was sent, by error code",
    ["code"],
  );
  const sessions = new Set<IslandSession>();
  /** Ended credentials. A session may open after its token was revoked, if the token was checked before that. */
  const endedCredentials = recentMap<true>(MAX_TOKENS);
  const limit = joinLimit(clock);
  const byAccount = accountSessions(env);
  const shared: SharedBySessions = {
    ...env,
    connections,
    frames,
    intake: intakeBudget(memory),
    watch: sessionWatch(clock, heartbeatMs),
    controlRate: controlRate(heartbeatMs),
    onFlood: ({ tokenId }) => byAccount.startCooldown(tokenId),
    onClosed: (session) => sessions.delete(session),
  };

  async function admit(request: IncomingMessage): Promise<AcceptedUpgrade> {
    const address = addressOf(request);
    const token = /^Bearer ([!-~]{1,200})$/i.exec(request.headers.authorization ?? "")?.[1];
    limit.assertMayTry(address, token);
    const owner = token === undefined ? undefined : await ownerOf(token, address);
    if (token === undefined || owner === undefined) {
      // A joining Island requests the public key without a token, which is not a failed attempt.
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
      // A wrong version is rejected in a close frame: client libraries hide the reason of a failed handshake.
      chooseProtocol: (offered) => (offered.includes(SUBPROTOCOL) ? SUBPROTOCOL : offered[0]),
      open: (socket, protocol) => open(socket, protocol, { ...owner, share }),
      release: close,
    };
  }

  function open(socket: SessionSocket, protocol: string | undefined, owner: SessionOwner): void {
    if (protocol === SUBPROTOCOL) {
      const session = new IslandSession(socket, owner, shared);
      sessions.add(session);
      if (endedCredentials.has(owner.tokenId)) session.dismiss(TOKEN_REVOKED, null);
      return;
    }
    socket.attach({ ...IGNORE_EVENTS, onError: () => socket.terminate() });
    socket.close(CLOSE.protocolError, `unsupported protocol version; supported: ${SUBPROTOCOL}`);
  }

  /** Returns the owner of a token, if any. The token of a suspended account counts as rejected in the join limit. */
  async function ownerOf(token: string, address: string): Promise<IslandIdentity | undefined> {
    try {
      return await accounts.authenticateIsland(token);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "account_suspended") limit.refused(address, token);
      throw error;
    }
  }

  function endSessionsOf(tokenId: string): void {
    endedCredentials.set(tokenId, true);
    for (const session of sessions) if (session.owner.tokenId === tokenId) session.dismiss(TOKEN_REVOKED, null);
  }

  return {
    frames,
    metrics: [refusals],
    /** Ends all sessions of a token. Other credentials have no session. */
    endSessionsOf,

    /**
     * Accepts an upgrade. The session starts when the transport opens the socket.
     * @throws {ServiceError} `unauthenticated` for a missing, unknown or revoked token; `account_suspended`; {@link
     * RateLimitedError} if too many tokens of the address were rejected, too many sessions are open, or the token is in
     * cooldown.
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
     * Dismisses all Islands, and waits until their sockets are closed. They reconnect after `retryAfterMs`, or at once
     * and evenly spread to `addresses` of other coordinators, if given.
     */
    async close(retryAfterMs: number, addresses: readonly string[] = []): Promise<void> {
      const reason = "the coordinator is stopping";
      for (const [index, session] of [...sessions].entries()) {
        if (addresses.length === 0) session.dismiss(reason, retryAfterMs);
        else session.dismiss(reason, 0, addresses[index % addresses.length]);
      }
      await Promise.all([...sessions].map(({ closed }) => closed));
    },

    openTokens: (): Iterable<string> => new Set([...sessions].map(({ owner }) => owner.tokenId)),

    /** Ends all sessions of suspended accounts, also before their `hello`. Their Islands retry later. */
    endSessionsOfAccounts(accountIds: ReadonlySet<string>): void {
      for (const session of sessions) {
        if (accountIds.has(session.owner.accountId)) session.dismiss("the account is suspended", SUSPENDED_RETRY_MS);
      }
    },
  };
}

/**
 * Limits the rejected tokens of each address. API requests are limited separately, so that a flood of them does not
 * block Islands. A token that was accepted before always passes, so that other hosts behind an address do not block a
 * returning Island. Authentication follows.
 */
export function joinLimit(clock: Clock, maxTokens: number = MAX_TOKENS) {
  const refusals = new RequestWindow(clock);
  const acceptedTokens = recentMap<true>(maxTokens);
  return {
    /** @throws {RateLimitedError} if too many tokens of the address were rejected. */
    assertMayTry(address: string, token: string | undefined): void {
      const { isAllowed, freesInMs } = refusals.peek(address, MAX_REFUSED);
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
/** Handlers for a socket that will only be closed. */
const IGNORE_EVENTS: SocketEvents = {
  onMessage: ignore,
  onRead: ignore,
  onPing: ignore,
  onPong: ignore,
  onError: ignore,
  onClose: ignore,
};

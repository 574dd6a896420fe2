import type { IncomingMessage } from "node:http";
import type { Accounts } from "../accounts/accounts.ts";
import type { IslandIdentity } from "../accounts/identity.ts";
import { ACCOUNT_HEADER, PUBLIC_KEY_HEADER } from "../../shared/cargo-signature.ts";
import { CLOSE, SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import { ServiceError } from "../../shared/errors.ts";
import { counter } from "../../shared/metrics.ts";
import { AccountSessions, type SessionCaps } from "./account-sessions.ts";
import { noFrames } from "./frame-counts.ts";
import { JoinLimit } from "./join-limit.ts";
import { controlRate } from "./session/frame-limits.ts";
import { IslandSession } from "./session/session.ts";
import type { SessionDeps, SessionOwner } from "./session/session-deps.ts";
import type { AcceptedUpgrade, SessionSocket, SocketEvents } from "./session-socket.ts";
import { SessionWatch } from "./session/session-watch.ts";
import { SUSPENDED_RETRY_MS } from "./suspended-islands.ts";

export interface GatewayDeps extends Pick<SessionDeps, "connections" | "clock" | "log" | "heartbeatMs" | "intake"> {
  readonly accounts: Pick<Accounts, "authenticateIsland" | "isIslandTokenValid">;
  /** Sent to Islands that are let in; see `PUBLIC_KEY_HEADER`. */
  readonly publicKey: string;
  /** The client address of a request, for limits. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly caps: SessionCaps;
}

/** Lets Islands in: checks the token, agrees on the protocol version, and opens sessions. */
export class IslandGateway {
  /** Frames of all sessions since the start. */
  readonly frames = noFrames();
  readonly #refusals = counter("atoll_session_refusals_total", "Islands with a token that were not let in, by code", [
    "code",
  ]);
  readonly metrics = [this.#refusals];
  readonly #sessions = new Set<IslandSession>();
  readonly #deps: GatewayDeps;
  readonly #sessionDeps: SessionDeps;
  readonly #limit: JoinLimit;
  readonly #accounts: AccountSessions;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
    this.#limit = new JoinLimit(deps.clock);
    this.#accounts = new AccountSessions(deps.clock, deps.caps);
    this.#sessionDeps = {
      ...deps,
      frames: this.frames,
      watch: new SessionWatch(deps.clock, deps.heartbeatMs),
      controlRate: controlRate(deps.heartbeatMs),
      recheck: (owner) => this.#recheck(owner),
      onFlood: ({ tokenId }) => this.#accounts.punish(tokenId),
      onClosed: (session) => this.#sessions.delete(session as IslandSession),
    };
  }

  /**
   * Decides about an upgrade. The session begins when the transport opens the socket.
   * @throws {ServiceError} `unauthenticated` for a missing, unknown or revoked token; `account_suspended`; {@link RateLimitedError} when too many tokens
   *   of the address were refused, too many sessions are open or the token waits after a flood.
   */
  async upgrade(request: IncomingMessage): Promise<AcceptedUpgrade> {
    try {
      return await this.#admit(request);
    } catch (error) {
      const hasToken = request.headers.authorization !== undefined;
      if (hasToken && error instanceof ServiceError) this.#refusals.add([error.code]);
      throw error;
    }
  }

  /**
   * Sends every Island away and waits until all sockets are closed. They come back after `retryAfterMs`; where there are `addresses` of
   * other coordinators, they go there at once, an equal part to each.
   */
  async close(retryAfterMs: number, addresses: readonly string[] = []): Promise<void> {
    const reason = "the coordinator is going down";
    for (const [index, session] of [...this.#sessions].entries()) {
      if (addresses.length === 0) session.dismiss(reason, retryAfterMs);
      else session.dismiss(reason, 0, addresses[index % addresses.length]);
    }
    await Promise.all([...this.#sessions].map(({ closed }) => closed));
  }

  /** Ends all sessions of a token that was revoked. Ignored for an id that is no token's. */
  endSessionsOf(tokenId: string): void {
    for (const session of this.#sessions) {
      if (session.owner.tokenId === tokenId) session.dismiss("the Island token was revoked", null);
    }
  }

  /** Ids of the tokens of all sessions. */
  openTokens(): Iterable<string> {
    return new Set([...this.#sessions].map(({ owner }) => owner.tokenId));
  }

  /** Ends all sessions of suspended accounts, also those that have not begun; their Islands ask again later. */
  endSessionsOfAccounts(accountIds: ReadonlySet<string>): void {
    for (const session of this.#sessions) {
      if (accountIds.has(session.owner.accountId)) session.dismiss("the account is suspended", SUSPENDED_RETRY_MS);
    }
  }

  async #admit(request: IncomingMessage): Promise<AcceptedUpgrade> {
    const { addressOf, publicKey } = this.#deps;
    const address = addressOf(request);
    const token = /^Bearer ([!-~]{1,200})$/i.exec(request.headers.authorization ?? "")?.[1];
    this.#limit.assertMayTry(address, token);
    const owner = token === undefined ? undefined : await this.#ownerOf(token, address);
    if (token === undefined || owner === undefined) {
      // A request without a token is not a failed try: an Island that joins asks for the public key this way.
      if (token !== undefined) this.#limit.refused(address, token);
      throw new ServiceError(
        "unauthenticated",
        "The Island token is missing or not valid. Send one as: Authorization: Bearer it_…",
      );
    }
    this.#limit.accepted(token);
    const { share, close } = this.#accounts.open(owner);
    return {
      headers: { [PUBLIC_KEY_HEADER]: publicKey, [ACCOUNT_HEADER]: owner.accountId },
      // Accept any version here and refuse it in a close frame: otherwise the client's library hides the reason.
      chooseProtocol: (offered) => (offered.includes(SUBPROTOCOL) ? SUBPROTOCOL : offered[0]),
      open: (socket, protocol) => this.#open(socket, protocol, { ...owner, share }),
      release: close,
    };
  }

  #open(socket: SessionSocket, protocol: string | undefined, owner: SessionOwner): void {
    if (protocol === SUBPROTOCOL) {
      this.#sessions.add(new IslandSession(socket, owner, this.#sessionDeps));
      return;
    }
    socket.attach({ ...DEAF, onError: () => socket.terminate() });
    socket.close(CLOSE.protocolError, `versions spoken: ${SUBPROTOCOL}`);
  }

  /** A token of a suspended account counts as refused. */
  async #ownerOf(token: string, address: string): Promise<IslandIdentity | undefined> {
    try {
      return await this.#deps.accounts.authenticateIsland(token);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "account_suspended") this.#limit.refused(address, token);
      throw error;
    }
  }

  /** Ends all sessions of a token that was revoked, also by another process. */
  #recheck({ tokenId, share }: SessionOwner): void {
    const { accounts, clock, heartbeatMs, log } = this.#deps;
    if (!share.isCheckDue(tokenId, clock.monotonicMs(), heartbeatMs)) return;
    accounts.isIslandTokenValid(tokenId).then(
      (isValid) => {
        if (!isValid) this.endSessionsOf(tokenId);
      },
      (error: unknown) => log.error({ err: error }, "Checking an Island token failed"),
    );
  }
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

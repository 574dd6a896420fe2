import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { AccountService } from "../accounts/account-service.ts";
import { ACCOUNT_HEADER, PUBLIC_KEY_HEADER } from "../../shared/cargo-signature.ts";
import { CLOSE, MAX_FRAME_BYTES, SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import { ServiceError } from "../../shared/errors.ts";
import { AccountSessions, type SessionCaps } from "./account-sessions.ts";
import { JoinLimit } from "./join-limit.ts";
import { controlRate } from "./frame-limits.ts";
import { IslandSession } from "./session.ts";
import type { SessionDeps, SessionOwner } from "./session-deps.ts";
import { SessionWatch } from "./session-watch.ts";

export interface GatewayDeps extends Pick<SessionDeps, "connections" | "clock" | "log" | "heartbeatMs" | "intake"> {
  readonly accounts: Pick<AccountService, "authenticateIsland" | "isIslandTokenValid">;
  /** Sent to Islands that are let in; see `PUBLIC_KEY_HEADER`. */
  readonly publicKey: string;
  /** The client address of a request, for limits. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly caps: SessionCaps;
}

/** Fragments of one frame. Agents send none; each takes 140 bytes beside its content, of which it may have one. */
const MAX_FRAGMENTS = 1_024;
/** Reads of the socket in which the largest frame may come: 512 bytes in each. */
const MAX_FRAME_READS = 16_384;

/** Accepts the WebSockets of Islands: checks the token, agrees on the protocol version, and opens sessions. */
export class IslandGateway {
  readonly #server: WebSocketServer;
  readonly #sessions = new Set<IslandSession>();
  readonly #deps: GatewayDeps;
  readonly #sessionDeps: SessionDeps;
  readonly #limit: JoinLimit;
  readonly #accounts: AccountSessions;
  /** Owners of the Islands whose upgrades were accepted. */
  readonly #accountIds = new WeakMap<IncomingMessage, string>();

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
    this.#limit = new JoinLimit(deps.clock);
    this.#accounts = new AccountSessions(deps.clock, deps.caps);
    this.#sessionDeps = {
      ...deps,
      watch: new SessionWatch(deps.clock, deps.heartbeatMs),
      controlRate: controlRate(deps.heartbeatMs),
      recheck: (owner) => this.#recheck(owner),
      onFlood: ({ tokenId }) => this.#accounts.punish(tokenId),
      onClosed: (session) => this.#sessions.delete(session as IslandSession),
    };
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_FRAME_READS,
      // Accept any version here and refuse it in a close frame: otherwise the client's library hides the reason.
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : (offered.values().next().value ?? false)),
    });
    this.#server.on("headers", (headers, request) => {
      headers.push(`${PUBLIC_KEY_HEADER}: ${deps.publicKey}`);
      const accountId = this.#accountIds.get(request);
      if (accountId !== undefined) headers.push(`${ACCOUNT_HEADER}: ${accountId}`);
    });
  }

  /**
   * Opens a session on the socket.
   * @throws {ServiceError} `unauthenticated` for a missing, unknown or revoked token; {@link RateLimitedError} when too many tokens
   *   of the address were refused, too many sessions are open or the token waits after a flood. The caller then still owns the socket.
   */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { accounts, addressOf } = this.#deps;
    const address = addressOf(request);
    const token = /^Bearer ([!-~]{1,200})$/i.exec(request.headers.authorization ?? "")?.[1];
    this.#limit.assertMayTry(address, token);
    const owner = token === undefined ? undefined : await accounts.authenticateIsland(token);
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
    socket.once("close", close);
    // It has left already, so "close" never comes.
    if (socket.destroyed) close();
    this.#accountIds.set(request, owner.accountId);
    this.#server.handleUpgrade(request, socket, head, (ws) => this.#open(ws, socket, { ...owner, share }));
  }

  /** Sends every Island away for `retryAfterMs` and waits until all sockets are closed. */
  async close(retryAfterMs: number): Promise<void> {
    for (const session of this.#sessions) session.dismiss("the coordinator is going down", retryAfterMs);
    await Promise.all([...this.#sessions].map((session) => session.closed()));
    this.#server.close();
  }

  #open(ws: WebSocket, socket: Duplex, owner: SessionOwner): void {
    if (ws.protocol !== SUBPROTOCOL) {
      ws.on("error", () => ws.terminate());
      ws.close(CLOSE.protocolError, `versions spoken: ${SUBPROTOCOL}`);
      return;
    }
    const session = new IslandSession(ws, owner, this.#sessionDeps);
    socket.on("data", (chunk: Buffer) => session.noteRead(chunk.length));
    this.#sessions.add(session);
  }

  /** Ends all sessions of a token that was revoked, also by another process. */
  #recheck({ tokenId, share }: SessionOwner): void {
    const { accounts, clock, heartbeatMs, log } = this.#deps;
    if (!share.isCheckDue(tokenId, clock.monotonicMs(), heartbeatMs)) return;
    accounts.isIslandTokenValid(tokenId).then(
      (isValid) => {
        if (isValid) return;
        for (const session of this.#sessions) {
          if (session.owner.tokenId === tokenId) session.dismiss("the Island token was revoked", null);
        }
      },
      (error: unknown) => log.error({ err: error }, "Checking an Island token failed"),
    );
  }
}

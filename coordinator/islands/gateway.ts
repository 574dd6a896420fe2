import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { AccountService } from "../accounts/account-service.ts";
import { ACCOUNT_HEADER, PUBLIC_KEY_HEADER } from "../../shared/cargo-signature.ts";
import { CLOSE, MAX_FRAME_BYTES, SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import { ServiceError } from "../../shared/errors.ts";
import { AccountSessions, type SessionCaps } from "./account-sessions.ts";
import { JoinLimit } from "./join-limit.ts";
import { IslandSession, type SessionDeps, type SessionOwner } from "./session.ts";

export interface GatewayDeps extends SessionDeps {
  readonly accounts: Pick<AccountService, "authenticateIsland">;
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
  readonly #limit: JoinLimit;
  readonly #accounts: AccountSessions;
  /** Owners of the Islands whose upgrades were accepted. */
  readonly #accountIds = new WeakMap<IncomingMessage, string>();

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
    this.#limit = new JoinLimit(deps.clock);
    this.#accounts = new AccountSessions(deps.clock, deps.caps);
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: true,
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
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      this.#open(ws, socket, {
        accountId: owner.accountId,
        share,
        isStillValid: async () => (await accounts.authenticateIsland(token)) !== undefined,
        onFlood: () => this.#accounts.punish(owner.tokenId),
      });
    });
  }

  /** Sends every Island away for `retryAfterMs` and waits until all sockets are closed. */
  async close(retryAfterMs: number): Promise<void> {
    for (const session of this.#sessions) session.dismiss("the coordinator is going down", retryAfterMs);
    const sockets = [...this.#server.clients];
    await Promise.all(sockets.map((socket) => closed(socket)));
    this.#server.close();
  }

  #open(ws: WebSocket, socket: Duplex, owner: SessionOwner): void {
    if (ws.protocol !== SUBPROTOCOL) {
      ws.on("error", () => ws.terminate());
      ws.close(CLOSE.protocolError, `versions spoken: ${SUBPROTOCOL}`);
      return;
    }
    const session = new IslandSession(ws, owner, this.#deps);
    socket.on("data", (chunk: Buffer) => session.noteRead(chunk.length));
    this.#sessions.add(session);
    ws.on("close", () => this.#sessions.delete(session));
  }
}

function closed(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState === socket.CLOSED) resolve();
    else socket.once("close", () => resolve());
  });
}

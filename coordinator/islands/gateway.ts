import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { AccountService } from "../accounts/account-service.ts";
import { PUBLIC_KEY_HEADER } from "../../shared/cargo-signature.ts";
import { CLOSE, MAX_FRAME_BYTES, SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import { IslandSession, type SessionDeps, type SessionOwner } from "./session.ts";

export interface GatewayDeps extends SessionDeps {
  readonly accounts: Pick<AccountService, "authenticateIsland">;
  /** Shown to Islands before they are let in; see `PUBLIC_KEY_HEADER`. */
  readonly publicKey: string;
}

/** Where Islands' WebSockets come in: checks the token, agrees on the protocol version, and opens sessions. */
export class IslandGateway {
  readonly #server: WebSocketServer;
  readonly #sessions = new Set<IslandSession>();
  readonly #deps: GatewayDeps;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      // A client that speaks another version is answered in its own words, or its library would hide the reason.
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : (offered.values().next().value ?? false)),
    });
    this.#server.on("headers", (headers) => headers.push(`${PUBLIC_KEY_HEADER}: ${deps.publicKey}`));
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const owner = token === undefined ? undefined : await this.#deps.accounts.authenticateIsland(token);
    if (token === undefined || owner === undefined) {
      socket.end(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      );
      return;
    }
    const { accounts } = this.#deps;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      this.#open(ws, {
        accountId: owner.accountId,
        isStillValid: async () => (await accounts.authenticateIsland(token)) !== undefined,
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

  #open(ws: WebSocket, owner: SessionOwner): void {
    if (ws.protocol !== SUBPROTOCOL) {
      ws.on("error", () => ws.terminate());
      ws.close(CLOSE.protocolError, `versions spoken: ${SUBPROTOCOL}`);
      return;
    }
    const session = new IslandSession(ws, owner, this.#deps);
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

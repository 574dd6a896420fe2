import { WebSocket } from "ws";
import { SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import { sessionUrl } from "./coordinator-link.ts";

/** Opens a session and closes it before `hello`: tells whether the address is a coordinator that takes the token. */
export function checkToken(
  coordinatorUrl: string,
  token: string,
): Promise<{ ok: true } | { ok: false; reason: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(sessionUrl(coordinatorUrl), SUBPROTOCOL, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: 10_000,
    });
    socket.on("open", () => {
      resolve({ ok: true });
      socket.close(1000, "token checked");
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      const reason =
        response.statusCode === 401
          ? "the coordinator does not accept the token"
          : `the address answered ${response.statusCode}: is it a coordinator?`;
      resolve({ ok: false, reason });
      socket.terminate();
    });
    socket.on("error", (error) => resolve({ ok: false, reason: `cannot reach the coordinator: ${describe(error)}` }));
  });
}

/** A refused connection on several addresses is an AggregateError without a message of its own. */
function describe(error: Error): string {
  return error instanceof AggregateError ? error.errors.map((each) => String(each)).join("; ") : error.message;
}

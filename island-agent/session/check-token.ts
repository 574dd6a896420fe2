import { WebSocket } from "ws";
import { PUBLIC_KEY_HEADER, readPublicKey } from "../../shared/cargo-signature.ts";
import { SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import { sessionUrl } from "./coordinator-link.ts";

/**
 * Opens a session and closes it before `hello`: tells whether the address is a coordinator that takes the token, and by which
 * public key (base64) it signs Cargos.
 */
export function checkToken(
  coordinatorUrl: string,
  token: string,
): Promise<{ ok: true; publicKey: string } | { ok: false; reason: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(sessionUrl(coordinatorUrl), SUBPROTOCOL, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: 10_000,
    });
    let publicKey: string | undefined;
    socket.on("upgrade", ({ headers }) => {
      const shown = headers[PUBLIC_KEY_HEADER];
      if (typeof shown === "string" && readPublicKey(shown) !== undefined) publicKey = shown;
    });
    socket.on("open", () => {
      if (publicKey === undefined) resolve({ ok: false, reason: "the coordinator shows no key that signs its Cargos" });
      else resolve({ ok: true, publicKey });
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

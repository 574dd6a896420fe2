import type { IncomingHttpHeaders } from "node:http";
import { WebSocket } from "ws";
import { ACCOUNT_HEADER, isAccountId, PUBLIC_KEY_HEADER, readPublicKey } from "../../shared/cargo-signature.ts";
import { SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import { sessionUrl } from "./coordinator-link.ts";

type Failed = { readonly ok: false; readonly reason: string };

/** Response to an upgrade request. `status` 101: a session was opened and closed immediately. */
type DialResult = { readonly ok: true; readonly status: number; readonly headers: IncomingHttpHeaders } | Failed;

const MAX_RESPONSE_WAIT_MS = 10_000;

/** Reads the coordinator's public key for Cargos (base64). Sends no token, because it is not trusted yet. */
export async function readCoordinatorKey(
  coordinatorUrl: string,
): Promise<{ readonly ok: true; readonly publicKey: string } | Failed> {
  const response = await dial(coordinatorUrl, {});
  if (!response.ok) return response;
  const publicKey = shownKey(response.headers);
  if (publicKey !== undefined) return { ok: true, publicKey };
  const isCoordinator = response.status === 401 || response.status === 101;
  return { ok: false, reason: isCoordinator ? NO_KEY : describeStatus(response) };
}

/**
 * Opens a session and closes it before `hello`. Returns whether the coordinator accepts the token, its public key, and
 * the token's account (null: the coordinator does not report it).
 */
export async function checkToken(
  coordinatorUrl: string,
  token: string,
): Promise<{ readonly ok: true; readonly publicKey: string; readonly accountId: string | null } | Failed> {
  const response = await dial(coordinatorUrl, { authorization: `Bearer ${token}` });
  if (!response.ok) return response;
  const { status, headers } = response;
  if (status === 401) return { ok: false, reason: "the coordinator rejected the token" };
  if (status !== 101) return { ok: false, reason: describeStatus(response) };
  const publicKey = shownKey(headers);
  if (publicKey === undefined) return { ok: false, reason: NO_KEY };
  const accountId = headers[ACCOUNT_HEADER];
  return { ok: true, publicKey, accountId: typeof accountId === "string" && isAccountId(accountId) ? accountId : null };
}

function dial(coordinatorUrl: string, headers: Readonly<Record<string, string>>): Promise<DialResult> {
  return new Promise((resolve) => {
    const socket = new WebSocket(sessionUrl(coordinatorUrl), SUBPROTOCOL, {
      headers,
      handshakeTimeout: MAX_RESPONSE_WAIT_MS,
    });
    let shown: IncomingHttpHeaders = {};
    socket.on("upgrade", (response) => (shown = response.headers));
    socket.on("open", () => {
      resolve({ ok: true, status: 101, headers: shown });
      socket.close(1000, "token checked");
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      resolve({ ok: true, status: response.statusCode ?? 0, headers: response.headers });
      socket.terminate();
    });
    socket.on("error", (error) =>
      resolve({ ok: false, reason: `cannot reach the coordinator: ${describeError(error)}` }),
    );
  });
}

const NO_KEY = "the coordinator sent no public key for its Cargos";

function describeStatus({
  status,
  headers,
}: {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}): string {
  if (status === 429) return "too many invalid tokens from this IP address. Try again in a minute";
  if (status === 421)
    return "the coordinator does not answer to this host name. Join with its IP address, or ask its operator to set public_url";
  const target = status >= 300 && status < 400 ? URL.parse(headers.location ?? "") : null;
  return target === null
    ? `the URL responded with status ${status}. Check that it is the URL of a coordinator`
    : `the URL redirects to another one. Join with ${target.origin}`;
}

function shownKey(headers: IncomingHttpHeaders): string | undefined {
  const shown = headers[PUBLIC_KEY_HEADER];
  return typeof shown === "string" && readPublicKey(shown) !== undefined ? shown : undefined;
}

/** Describes an error. A connection refused on several addresses gives an AggregateError without a message. */
function describeError(error: Error): string {
  return error instanceof AggregateError ? error.errors.map((each) => String(each)).join("; ") : error.message;
}

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { ServiceError } from "../../../shared/errors.ts";
import { transportErrorResponse, type ErrorResponse, finalHeaders } from "../error-responses.ts";
import type { FetchHandler } from "./transport.ts";

/**
 * Responses to requests that are not valid HTTP and do not reach the API. They have the error body of spec §7. The
 * connection closes after them, because the start of the next request is unknown.
 */

/** Status and message by the error code of Node's parser; every other error gets 400. */
const PARSER_REFUSALS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The headers are larger than 16 KB. Send fewer or shorter ones"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    413,
    "The extensions of a chunk are larger than 16 KB. Send chunks without extensions",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time. Send it again on a new connection"],
};

/**
 * Refuses a request that Node's parser rejected.
 * @param hasResponse Whether a response has started on this connection, so that the error is not written into it.
 */
export function refuseUnparsed(error: NodeJS.ErrnoException, socket: Duplex, hasResponse: boolean): void {
  if (!socket.writable || error.code === "ECONNRESET" || hasResponse) {
    socket.destroy();
    return;
  }
  const [status, message] = PARSER_REFUSALS[error.code ?? ""] ?? [400, "The request is not valid HTTP"];
  endWith(socket, refusal(status, message));
}

/** Refuses an `Expect` other than `100-continue`. Source: RFC 9110, section 10.1.1. */
export function refuseExpectation({ headers: { expect } }: IncomingMessage, response: ServerResponse): void {
  const message = `"Expect: ${expect}" is not supported. Send "Expect: 100-continue" or no Expect header`;
  respondWith(response, refusal(417, message));
}

/** Sends the whole response, after which the connection closes. */
export function respondWith(response: ServerResponse, { status, headers, body }: ErrorResponse): void {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  const head = { ...headers, "Content-Type": "application/json", "Content-Length": length, Connection: "close" };
  response.writeHead(status, head).end(text);
}

/** Returns the refusal of a request whose URL or Host header is invalid, so that no Request object can be made. */
function refuseRequest(error: unknown): Response {
  const { status, headers, body } =
    error instanceof RequestError
      ? refusal(400, `The URL or the Host header of the request is invalid: ${error.message}`)
      : transportErrorResponse(error);
  return Response.json(body, { status, headers: { ...headers, Connection: "close" } });
}

/** Writes the whole response to a socket and closes the socket once the response is sent. */
export function endWith(socket: Duplex, { status, headers, body }: ErrorResponse): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  // node:http passes a Socket, though its types declare a Duplex.
  (socket as Socket).destroySoon();
}

export function refusal(status: number, message: string): ErrorResponse {
  return { ...transportErrorResponse(new ServiceError("bad_request", message)), status, headers: finalHeaders(status) };
}

export function shuttingDown(): ServiceError {
  return new ServiceError("shutting_down", "The coordinator is shutting down. Try again in a moment");
}

export function serveWith(fetch: FetchHandler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const serve = getRequestListener((request, env) => handleRequest(fetch, request, env as HttpBindings), {
    errorHandler: refuseRequest,
  });
  return (incoming, outgoing) => void serve(incoming, outgoing);
}

/**
 * Calls `fetch` and returns its response. For HEAD, Hono makes a new response without the mark that it was already
 * sent, so it would be sent twice.
 */
function handleRequest(fetch: FetchHandler, request: Request, env: HttpBindings): Response | Promise<Response> {
  const response = fetch(request, env);
  if (env.incoming.method !== "HEAD") return response;
  return Promise.resolve(response).then((made) => (env.outgoing.headersSent ? RESPONSE_ALREADY_SENT : made));
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { refuseRequest } from "./protocol-refusals.ts";
import type { FetchHandler } from "./transport.ts";

/** Serves requests in Node's form with `fetch`. */
export function serveWith(fetch: FetchHandler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const serve = getRequestListener((request, env) => answer(fetch, request, env as HttpBindings), {
    errorHandler: refuseRequest,
  });
  return (incoming, outgoing) => void serve(incoming, outgoing);
}

/** Hono makes a new response for HEAD, which no longer says that the answer was already sent; it would be sent twice. */
function answer(fetch: FetchHandler, request: Request, env: HttpBindings): Response | Promise<Response> {
  const response = fetch(request, env);
  if (env.incoming.method !== "HEAD") return response;
  return Promise.resolve(response).then((made) => (env.outgoing.headersSent ? RESPONSE_ALREADY_SENT : made));
}

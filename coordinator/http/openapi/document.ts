import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { SESSION_COOKIE } from "../server/console-session.ts";
import { registerFailures } from "./failure-responses.ts";
import { registerHeaders } from "./headers.ts";
import { mergeAllOf } from "./merge-all-of.ts";
import { TAGS_DOC } from "./tags.ts";

const DESCRIPTION = `The API of an Atoll coordinator: jobs, chats, files and the catalog of a compute network.

- All paths start with \`${API_BASE}\`. Bodies are JSON in UTF-8, at most 1 MB.
- Errors are \`{"error": {"message", "code"}}\`. Act on \`code\` and show \`message\`. A method that a path does not support is 405, with \`Allow\`.
- \`/v1\` serves the same API with OpenAI's and Anthropic's statuses: 400 instead of 422. \`POST /v2/rerank\`, for Cohere's client, is the same as \`POST /v1/rerank\`. \`/v1/conversations\` is not served, because OpenAI's conversations differ.
- A request that is not valid HTTP gets the same error body on any path, with the code \`bad_request\`, and the connection closes. Statuses: 400 (malformed, or without a usable Host), 408 (too slow), 413 (chunk extensions too large), 417 (an \`Expect\` other than 100-continue) and 431 (headers above 16 KB).
- A client that closes its side of the connection has disconnected: the chat or embedding that it waits for is cancelled.
- Responses may get new members and streams new kinds of events without a new version. Ignore the ones that you do not know.
- GET paths also serve HEAD.
- The data of each Server-Sent Event is one line; a \`text/event-stream\` schema describes that data. Comment lines keep a silent stream open.`;

/** The OpenAPI 3.1 document of all routes and webhooks registered so far, as parsed JSON. */
export function openApiDocument(app: HttpApp, { version, options }: Pick<HttpDeps, "version" | "options">): unknown {
  registerFailures(app.openAPIRegistry);
  registerHeaders(app.openAPIRegistry);
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description:
      "An API key (ak_…) with the scopes that the operation names, or a session token (st_…), which has every scope. The scope `operator` needs the session token of an operator",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "console", {
    type: "apiKey",
    in: "cookie",
    name: SESSION_COOKIE,
    description:
      "The session of the coordinator's own web pages. Accepted only without `Authorization`, and only with the header `Atoll-Console: 1` or in a same-origin GET that accepts text/event-stream",
  });
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Atoll",
      version,
      description: DESCRIPTION,
      license: { name: "MIT" },
    },
    servers: [{ url: options.publicUrl ?? "/" }],
    tags: TAGS_DOC,
  });
  return mergeAllOf(JSON.parse(JSON.stringify(document)), document.components?.schemas ?? {});
}

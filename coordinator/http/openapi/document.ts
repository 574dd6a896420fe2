import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { registerFailures } from "./failure-responses.ts";
import { registerHeaders } from "./headers.ts";
import { withoutAllOf } from "./one-object.ts";
import { TAGS_DOC } from "./tags.ts";

const DESCRIPTION = `A compute network that anyone can run: jobs, chats and the catalog of an Atoll coordinator.

- Everything is below \`${API_BASE}\`, and bodies are JSON in UTF-8 of at most 1 MB.
- Errors are \`{"error": {"message", "code"}}\`: act on \`code\`, show \`message\`. A path that exists, asked with a method that it has not, is 405 with \`Allow\`.
- What is not valid HTTP has the same error body and ends the connection, on any path: 400 (malformed, or without a usable Host), 408 (too slow), 413 (extensions of a chunk), 417 (an \`Expect\` other than 100-continue) or 431 (headers above 16 KB), each with the code \`bad_request\`.
- A client that closes its side of the connection has left: what it waits for on it, a chat for one, is cancelled.
- Members may be added to answers and kinds to events without a new version: leave alone what you do not know.
- GET paths also answer HEAD.
- The data of each Server-Sent Event is one line; what a \`text/event-stream\` schema describes is that data. Comment lines keep a silent stream open.`;

/** The OpenAPI 3.1 document of all routes and webhooks that were registered so far, as parsed JSON. */
export function openApiDocument(app: HttpApp, { version, options }: Pick<HttpDeps, "version" | "options">): unknown {
  registerFailures(app.openAPIRegistry);
  registerHeaders(app.openAPIRegistry);
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description:
      "An API key (ak_…) with the scopes that an operation names, or a session token (st_…), which has every scope",
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
    tags: [...TAGS_DOC],
  });
  return withoutAllOf(JSON.parse(JSON.stringify(document)), document.components?.schemas ?? {});
}

import { createRoute, z } from "@hono/zod-openapi";
import { servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { openApiDocument } from "../openapi/document.ts";
import { json } from "../schemas/responses.ts";

const documentRoute = createRoute({
  operationId: "getOpenApi",
  method: "get",
  path: `${API_BASE}/openapi.json`,
  summary: "This document",
  responses: { 200: json(z.record(z.string(), z.unknown()), "OpenAPI 3.1") },
});

/** Serves the OpenAPI 3.1 document of all routes. It is made for the first who asks: that takes as long as all else of a start. */
export function serveOpenApi(app: HttpApp, deps: Pick<HttpDeps, "version" | "options">): void {
  let document: string | undefined;
  servePublic(app, documentRoute, ({ c }) => {
    document ??= JSON.stringify(openApiDocument(app, deps));
    return c.body(document, 200, { "Content-Type": "application/json" });
  });
  app.get("/openapi.json", (c) => {
    c.get("limits").countAddress(c.env.incoming);
    return c.body(null, 308, { Location: `${API_BASE.slice(1)}/openapi.json` });
  });
}

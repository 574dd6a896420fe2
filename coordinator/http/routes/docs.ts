import { createRequire } from "node:module";
import { dirname } from "node:path";
import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { API_BASE } from "../http-deps.ts";
import type { HttpOptions } from "../http-options.ts";
import { sendFile } from "../server/send-file.ts";
import { routeGroup } from "../route-group.ts";
import { openApiDocument } from "../openapi/document.ts";
import { json } from "../schemas/responses.ts";

/** Files of swagger-ui-dist that the page loads. Their links are relative: a proxy may add a prefix. */
const ASSETS = new Set(["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"]);

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Atoll API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** Script that starts Swagger UI. `validatorUrl: null` keeps the page from sending the document to a third party. */
const START = `const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();
SwaggerUIBundle({
  url: "api/v1/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
});
`;

export const docsRoutes = routeGroup("", { tag: "Service" }, (routes, deps) => {
  const { options } = deps;

  const root = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const headers = { "Content-Security-Policy": contentPolicy(options), "Referrer-Policy": "no-referrer" };
  routes.get("/docs", {
    id: "getDocs",
    is: "Get this document as a web page",
    access: "public",
    responses: { 308: { description: "The page is at /docs" } },
  })(({ c }) => c.body(null, 308, { Location: "../../docs" }));

  routes.app.use("/docs/*", async (c, next) => {
    c.get("limits").countAddress(c.env.incoming);
    await next();
  });
  routes.app.get("/docs", (c) => c.html(PAGE, 200, headers));
  routes.app.get("/docs/", (c) => c.body(null, 308, { Location: "../docs" }));
  routes.app.get("/docs/start.js", (c) =>
    c.body(START, 200, { ...headers, "Content-Type": "text/javascript; charset=utf-8" }),
  );
  routes.app.get("/docs/:file", (c) => {
    const name = c.req.param("file");
    const missing = `There is no file "${name}"`;
    if (!ASSETS.has(name)) throw new ServiceError("not_found", missing);
    return sendFile(c.env, { root, name, headers, missing });
  });

  // The document is created at the first request: creating it takes as long as the rest of a start.
  let document: string | undefined;
  routes.get("/openapi.json", {
    id: "getOpenApi",
    is: "Get this document",
    access: "public",
    responses: { 200: json(z.record(z.string(), z.unknown()), "OpenAPI 3.1") },
  })(({ c }) => {
    document ??= JSON.stringify(openApiDocument(routes.app, deps));
    return c.body(document, 200, { "Content-Type": "application/json" });
  });

  routes.app.get("/openapi.json", (c) => {
    c.get("limits").countAddress(c.env.incoming);
    return c.body(null, 308, { Location: `${API_BASE.slice(1)}/openapi.json` });
  });
});

/** Returns the page's policy: only its own files, calls only to the API, and `data:` for icons in its style sheet. */
function contentPolicy({ publicUrl }: Pick<HttpOptions, "publicUrl">): string {
  const api = publicUrl === null ? "" : ` ${new URL(publicUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${api}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

import { createRequire } from "node:module";
import { dirname } from "node:path";
import { createRoute } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpOptions } from "../http-deps.ts";
import { sendFile } from "../server/send-file.ts";

/** Files of swagger-ui-dist that the page loads. All links are relative, so that the page works under any path prefix of a proxy. */
const ASSETS = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"] as const;

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

/** `validatorUrl: null` keeps the page from sending the document to a third party. */
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

const docsRoute = createRoute({
  operationId: "getDocs",
  method: "get",
  path: `${API_BASE}/docs`,
  summary: "This document as a web page",
  responses: { 308: { description: "The page is at /docs" } },
});

/** Serves the page at /docs with everything that it loads. */
export function serveDocs(app: HttpApp, { options }: Pick<HttpDeps, "options">): void {
  const root = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const headers = { "Content-Security-Policy": contentPolicy(options), "Referrer-Policy": "no-referrer" };
  servePublic(app, docsRoute, ({ c }) => c.body(null, 308, { Location: "../../docs" }));
  app.use("/docs/*", async (c, next) => {
    c.get("limits").countAddress(c.env.incoming);
    await next();
  });
  app.get("/docs", (c) => c.html(PAGE, 200, headers));
  app.get("/docs/", (c) => c.body(null, 308, { Location: "../docs" }));
  app.get("/docs/start.js", (c) =>
    c.body(START, 200, { ...headers, "Content-Type": "text/javascript; charset=utf-8" }),
  );
  app.get("/docs/:file", (c) => {
    const name = c.req.param("file");
    const missing = `There is no file "${name}"`;
    if (!(ASSETS as readonly string[]).includes(name)) throw new ServiceError("not_found", missing);
    return sendFile(c.env, { root, name, headers, missing });
  });
}

/** The page loads only its own files and calls only the API; `data:` is for the icons in its style sheet. */
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

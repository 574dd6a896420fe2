import { API_BASE, type HttpApp, type HttpDeps } from "./http-deps.ts";

/** Serves the OpenAPI 3.1 document of all routes that were registered before this call. */
export function serveOpenApi(app: HttpApp, { version, options }: Pick<HttpDeps, "version" | "options">): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "API key (ak_…) or session token (st_…)",
  });
  const document = JSON.stringify(
    app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: { title: "Atoll", version },
      servers: [{ url: options.publicUrl ?? "/" }],
    }),
  );
  app.get(`${API_BASE}/openapi.json`, (c) => c.body(document, 200, { "Content-Type": "application/json" }));
}

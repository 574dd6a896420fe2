import { createRoute, z } from "@hono/zod-openapi";
import { servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";

const metricsRoute = createRoute({
  operationId: "getMetrics",
  method: "get",
  path: `${API_BASE}/metrics`,
  summary: "Metrics for Prometheus",
  description: "Totals only, nothing about a single account or Island. Use a proxy to keep the path private.",
  responses: {
    200: { description: "Prometheus text format", content: { "text/plain": { schema: z.string() } } },
  },
});

export function serveMetrics(app: HttpApp, { metrics }: Pick<HttpDeps, "metrics">): void {
  servePublic(app, metricsRoute, async ({ c }) =>
    c.body(await metrics.read(), 200, { "Content-Type": metrics.contentType }),
  );
}

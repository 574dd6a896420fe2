import { createRoute, z } from "@hono/zod-openapi";
import { servePublic } from "../middleware/endpoint.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { hashSecret } from "../../accounts/secrets.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpOptions } from "../http-deps.ts";
import { bearerToken } from "../middleware/auth.ts";
import { failures } from "../schemas/responses.ts";

const metricsRoute = createRoute({
  operationId: "getMetrics",
  method: "get",
  path: `${API_BASE}/metrics`,
  summary: "Metrics for Prometheus",
  description:
    "Totals only, nothing about a single account or Island. Open where only the coordinator's machine can reach it. Elsewhere it needs " +
    "the operator's `metrics_token` as Authorization: Bearer; without this setting it is off (404).",
  responses: {
    200: { description: "Prometheus text format", content: { "text/plain": { schema: z.string() } } },
    ...failures(401, 404),
  },
});

export function serveMetrics(app: HttpApp, { metrics, options }: Pick<HttpDeps, "metrics" | "options">): void {
  servePublic(app, metricsRoute, async ({ c }) => {
    assertMayRead(options.metrics, bearerToken(c.env.incoming));
    return c.body(await metrics.read(), 200, { "Content-Type": metrics.contentType });
  });
}

function assertMayRead(access: HttpOptions["metrics"], token: string | undefined): void {
  if (access === "open") return;
  if (access === "off") throw new ServiceError("not_found", "Metrics are off on this coordinator");
  // Hashes have the same length, and comparing them tells nothing about the token.
  const isRight = token !== undefined && hashSecret(token) === hashSecret(access.token);
  if (!isRight)
    throw new ServiceError("unauthenticated", "Send the coordinator's metrics_token: Authorization: Bearer …");
}

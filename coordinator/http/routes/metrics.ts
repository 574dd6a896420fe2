import type { IncomingMessage } from "node:http";
import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { hashSecret } from "../../accounts/secrets.ts";
import { isLoopback } from "../../../shared/net/loopback.ts";
import type { HttpOptions } from "../http-options.ts";
import { bearerToken } from "../middleware/auth.ts";
import { routeGroup } from "../route-group.ts";

/** Headers that proxies add: Forwarded, X-Forwarded-…, Via, X-Real-IP, CF-Connecting-IP, … */
const PROXY_HEADER = /^(?:x-)?forwarded|^via$|-ip$/;

export const metricRoutes = routeGroup("/metrics", { tag: "Service" }, (routes, { metrics, options }) => {
  routes.get("", {
    id: "getMetrics",
    is: "Get metrics in Prometheus format",
    about:
      "Metrics are totals that do not name accounts or Islands. The request needs the operator's `metrics_token` (`Authorization: Bearer`). If that setting is not set, only programs on the coordinator's machine can read the metrics, and only if other machines cannot reach the coordinator. Any other request gets 404, including one through a proxy or from a page of another site.",
    access: "public",
    responses: { 200: { description: "Prometheus text format", content: { "text/plain": { schema: z.string() } } } },
    fails: [401, 404],
  })(async ({ c }) => {
    assertMayRead(options.metrics, c.env.incoming);
    return c.body(await metrics.read(), 200, { "Content-Type": metrics.contentType });
  });
});

function assertMayRead(access: HttpOptions["metrics"], incoming: IncomingMessage): void {
  if (access === "off" || (access === "open" && (isForwarded(incoming) || isForeignPage(incoming))))
    throw new ServiceError(
      "not_found",
      "Metrics are off on this coordinator. Its operator can enable them with the setting metrics_token",
    );
  if (access === "open") return;
  const token = bearerToken(incoming);
  // Comparing hashes instead of tokens reveals nothing about the token, not even its length.
  const isValid = token !== undefined && hashSecret(token) === hashSecret(access.token);
  if (!isValid)
    throw new ServiceError(
      "unauthenticated",
      "The metrics_token is missing or wrong. Send Authorization: Bearer <metrics_token>",
    );
}

/** Returns whether a proxy forwarded the request: through a proxy, other machines could read open metrics. */
function isForwarded({ headers }: IncomingMessage): boolean {
  return Object.keys(headers).some((name) => PROXY_HEADER.test(name));
}

/** Returns whether a web page sent the request: of another origin, or of a host name that points to this machine. */
function isForeignPage({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin !== undefined || !isLoopback(URL.parse(`http://${host}`)?.hostname ?? "");
}

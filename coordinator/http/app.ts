import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { getPath } from "hono/utils/url";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ServiceError } from "../../shared/errors.ts";
import { MethodNotAllowedError, errorResponse } from "./error-responses.ts";
import { type HttpApp, type HttpDeps, type HttpEnv } from "./http-deps.ts";
import { canonicalPath, isVendorPath } from "./vendor-paths.ts";
import { requestLimits } from "./limits/request-limits.ts";
import { errorStyles, serveGroup, type RouteGroup } from "./route-group.ts";
import { requestContext } from "./middleware/request-context.ts";
import { accountRoutes } from "./routes/account.ts";
import { announcementRoutes, operatorAnnouncementRoutes } from "./routes/announcements.ts";
import { apiKeyRoutes } from "./routes/api-keys.ts";
import { batchRoutes } from "./routes/batches.ts";
import { cargoRoutes } from "./routes/cargos.ts";
import { chatRoutes } from "./routes/chat.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { docsRoutes } from "./routes/docs.ts";
import { downloadRoutes } from "./routes/downloads.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { islandAgentRoutes } from "./routes/agents.ts";
import { islandTokenRoutes } from "./routes/island-tokens.ts";
import { islandRoutes } from "./routes/islands.ts";
import { jobOutputRoutes } from "./routes/job-output.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { metricRoutes } from "./routes/metrics.ts";
import { networkRoutes } from "./routes/network.ts";
import { operatorAccountRoutes } from "./routes/operator-accounts.ts";
import { operatorAuditRoutes } from "./routes/operator-audits.ts";
import { operatorCargoRoutes } from "./routes/operator-cargos.ts";
import { operatorIslandRoutes } from "./routes/operator-islands.ts";
import { operatorNetworkRoutes } from "./routes/operator-network.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { usageRoutes } from "./routes/usage.ts";
import { missingPage, noRouteError, serveFrontDoor } from "./routes/front-door.ts";
import { documentWebhooks } from "./schemas/webhook-payload.ts";
import { openConsoleFiles } from "./server/console-files.ts";

export function apiGroups(dialects: readonly RouteGroup[]): readonly RouteGroup[] {
  return [
    healthRoutes,
    jobRoutes,
    batchRoutes,
    jobOutputRoutes,
    chatRoutes,
    ...dialects,
    conversationRoutes,
    cargoRoutes,
    eventRoutes,
    accountRoutes,
    usageRoutes,
    sessionRoutes,
    apiKeyRoutes,
    islandTokenRoutes,
    islandRoutes,
    islandAgentRoutes,
    operatorNetworkRoutes,
    operatorAccountRoutes,
    operatorIslandRoutes,
    operatorAuditRoutes,
    operatorCargoRoutes,
    announcementRoutes,
    operatorAnnouncementRoutes,
    networkRoutes,
    metricRoutes,
    downloadRoutes,
    docsRoutes,
  ];
}

/** Creates the HTTP API. The listener that serves it must pass Node's own request and response. */
export function createApp(deps: HttpDeps, dialects: readonly RouteGroup[]): HttpApp {
  const app: HttpApp = new OpenAPIHono<HttpEnv>({ getPath: (request) => canonicalPath(getPath(request)) });
  app.onError((error, c) => refuse(c, error, deps));
  const consoleFiles = openConsoleFiles();
  app.notFound(async (c) => (await missingPage(c, consoleFiles)) ?? refuseUncounted(c, noRouteError(c.req.path), deps));
  const groups = apiGroups(dialects);
  const limits = requestLimits(deps.options, deps.clock, deps.metrics, deps.quota);
  deps.credentials.serve({
    end: (credential) => limits.closeStreamsOf(credential),
    open: () => limits.openCredentials(),
  });
  deps.suspensions.onAccounts((accountIds) => limits.closeStreamsOfAccounts(accountIds));
  app.use(requestContext(deps, limits, errorStyles(groups)));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => refuseUncounted(c, new MethodNotAllowedError(c.req.method, methods), deps),
    }),
  );
  for (const group of groups) serveGroup(app, group, deps);
  documentWebhooks(app);
  serveFrontDoor(app, deps, consoleFiles);
  return app;
}

/** Refuses a request without a route, and counts it for the client's address. */
function refuseUncounted(c: Context<HttpEnv>, error: ServiceError, deps: HttpDeps): Response {
  try {
    c.get("limits").countAddress(c.env.incoming);
  } catch (limited) {
    return refuse(c, limited, deps);
  }
  return refuse(c, error, deps);
}

/** Logs an unexpected error and returns the error response. Handles all errors of the API. */
function refuse(c: Context<HttpEnv>, thrown: unknown, { log, metrics }: HttpDeps): Response {
  const requestId = c.get("requestId");
  if (!(thrown instanceof ServiceError)) log.error({ err: thrown, request_id: requestId }, "Request failed");
  metrics.http.noteRefusal(thrown instanceof ServiceError ? thrown.code : "internal");
  const isVendorBase = isVendorPath(getPath(c.req.raw));
  const { status, headers, body } = errorResponse(thrown, { requestId, style: c.get("style"), isVendorBase });
  return c.json(body, status as ContentfulStatusCode, headers);
}

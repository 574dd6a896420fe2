import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { getPath } from "hono/utils/url";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ServiceError } from "../../shared/errors.ts";
import { MethodNotAllowedError, answerError } from "./error-answers.ts";
import { errorStyleOf, isAnthropicClient, type HttpApp, type HttpDeps, type HttpEnv } from "./http-deps.ts";
import { canonicalPath, isVendorPath } from "./vendor-paths.ts";
import { RequestLimits } from "./limits/request-limits.ts";
import { serveGroup, type RouteGroup } from "./route-group.ts";
import { requestContext } from "./middleware/request-context.ts";
import { serveAccount } from "./routes/account.ts";
import { serveAccountSessions } from "./routes/account-sessions.ts";
import { serveAnnouncements } from "./routes/announcements.ts";
import { serveApiKeys } from "./routes/api-keys.ts";
import { serveBatches } from "./routes/batches.ts";
import { serveAvailability } from "./routes/availability.ts";
import { serveCargos } from "./routes/cargos.ts";
import { serveChat } from "./routes/chat.ts";
import { serveConversationMessages } from "./routes/conversation-messages.ts";
import { serveConversations } from "./routes/conversations.ts";
import { serveDocs } from "./routes/docs-page.ts";
import { serveDownloads } from "./routes/downloads.ts";
import { serveEvents } from "./routes/events.ts";
import { missingPage, nothingServed, serveFrontDoor } from "./routes/front-door.ts";
import { serveHealth } from "./routes/health.ts";
import { serveIslandEarnings } from "./routes/island-earnings.ts";
import { serveIslandLeave } from "./routes/island-leave.ts";
import { serveIslandFiles } from "./routes/island-files.ts";
import { serveIslandTokens } from "./routes/island-tokens.ts";
import { serveIslands } from "./routes/islands.ts";
import { serveJobOutput } from "./routes/job-output.ts";
import { serveJobStream } from "./routes/job-stream.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { serveLedger } from "./routes/ledger.ts";
import { serveMetrics } from "./routes/metrics.ts";
import { serveModelFiles } from "./routes/model-files.ts";
import { serveModels } from "./routes/models.ts";
import { serveNetwork } from "./routes/network.ts";
import { serveOperatorAccounts } from "./routes/operator-accounts.ts";
import { serveOperatorCargos } from "./routes/operator-cargos.ts";
import { serveOperatorIslands } from "./routes/operator-islands.ts";
import { serveOperatorNetwork } from "./routes/operator-network.ts";
import { serveOpenApi } from "./routes/openapi.ts";
import { servePasswords } from "./routes/passwords.ts";
import { serveRecommendations } from "./routes/recommendations.ts";
import { serveSessions } from "./routes/sessions.ts";
import { serveUsage } from "./routes/usage.ts";
import { documentWebhooks } from "./schemas/webhook-payload.ts";
import { ConsoleFiles } from "./server/console-files.ts";

/**
 * The whole HTTP API, without a socket. Its listener must hand over Node's own request and response.
 * @param dialects The APIs of other vendors.
 */
export function createApp(deps: HttpDeps, dialects: readonly RouteGroup[]): HttpApp {
  const app: HttpApp = new OpenAPIHono<HttpEnv>({ getPath: (request) => canonicalPath(getPath(request)) });
  app.onError((error, c) => refuse(c, error, deps));
  const consoleFiles = new ConsoleFiles();
  app.notFound(
    async (c) => (await missingPage(c, consoleFiles)) ?? refuseUncounted(c, nothingServed(c.req.path), deps),
  );
  const limits = new RequestLimits(deps);
  deps.credentials?.serve({
    end: (credential) => limits.closeStreamsOf(credential),
    open: () => limits.openCredentials(),
  });
  deps.suspensions?.onAccounts((accountIds) => limits.closeStreamsOfAccounts(accountIds));
  app.use(requestContext(deps, limits));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => refuseUncounted(c, new MethodNotAllowedError(c.req.method, methods), deps),
    }),
  );
  serveHealth(app, deps);
  serveGroup(app, jobRoutes, deps);
  serveBatches(app, deps);
  documentWebhooks(app);
  serveJobOutput(app, deps);
  serveJobStream(app, deps);
  serveChat(app, deps);
  for (const group of dialects) serveGroup(app, group, deps);
  serveConversations(app, deps);
  serveConversationMessages(app, deps);
  serveModels(app, deps);
  serveAvailability(app, deps);
  serveCargos(app, deps);
  serveEvents(app, deps);
  serveAccount(app, deps);
  serveLedger(app, deps);
  serveUsage(app, deps);
  serveSessions(app, deps);
  serveAccountSessions(app, deps);
  servePasswords(app, deps);
  serveApiKeys(app, deps);
  serveIslandTokens(app, deps);
  serveIslands(app, deps);
  serveIslandEarnings(app, deps);
  serveIslandLeave(app, deps);
  serveIslandFiles(app, deps);
  serveRecommendations(app, deps);
  serveOperatorNetwork(app, deps);
  serveOperatorAccounts(app, deps);
  serveOperatorIslands(app, deps);
  serveOperatorCargos(app, deps);
  serveAnnouncements(app, deps);
  serveNetwork(app, deps);
  serveMetrics(app, deps);
  serveModelFiles(app, deps);
  serveDownloads(app, deps);
  serveFrontDoor(app, deps, consoleFiles);
  serveDocs(app, deps);
  serveOpenApi(app, deps);
  return app;
}

/** Refuses a request that no route has counted; it counts for the client's address. */
function refuseUncounted(c: Context<HttpEnv>, error: ServiceError, deps: Pick<HttpDeps, "log" | "metrics">): Response {
  try {
    c.get("limits").countAddress(c.env.incoming);
  } catch (limited) {
    return refuse(c, limited, deps);
  }
  return refuse(c, error, deps);
}

/** The one place that turns an error into an answer and logs unexpected ones. */
function refuse(c: Context<HttpEnv>, thrown: unknown, { log, metrics }: Pick<HttpDeps, "log" | "metrics">): Response {
  const requestId = c.get("requestId");
  if (!(thrown instanceof ServiceError)) log.error({ err: thrown, request_id: requestId }, "request failed");
  metrics.http.noteRefusal(thrown instanceof ServiceError ? thrown.code : "internal");
  const style = errorStyleOf(c.req.path, isAnthropicClient(c.req));
  const isVendorBase = isVendorPath(getPath(c.req.raw));
  const { status, headers, body } = answerError(thrown, { requestId, style, isVendorBase });
  return c.json(body, status as ContentfulStatusCode, headers);
}

import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ServiceError } from "../../shared/errors.ts";
import { serveAccount } from "./account.ts";
import { serveApiKeys } from "./api-keys.ts";
import { serveAuth } from "./auth-routes.ts";
import { serveCargos } from "./cargos.ts";
import { serveChat } from "./chat.ts";
import { MethodNotAllowedError, answerError } from "./errors.ts";
import { serveHealth } from "./health.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "./http-deps.ts";
import { serveJobStream } from "./job-stream.ts";
import { serveJobs } from "./jobs.ts";
import { serveModelFiles } from "./model-files.ts";
import { serveModels } from "./models.ts";
import { serveOpenApi } from "./openapi.ts";
import { serveRecommendations } from "./recommendations.ts";
import { requestFrame } from "./request-frame.ts";

/** Paths whose errors must also please OpenAI's clients. */
const OPENAI_PATHS = [`${API_BASE}/chat/`, `${API_BASE}/models`];

/** The whole HTTP API, without a socket. It must be served by a listener that hands over Node's own request and response. */
export function createApp(deps: HttpDeps): HttpApp {
  const app: HttpApp = new OpenAPIHono<HttpEnv>();
  app.onError((error, c) => refuse(c, error, deps));
  app.notFound((c) => refuse(c, new ServiceError("not_found", "There is nothing at this path"), deps));
  app.use(requestFrame(deps));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => refuse(c, new MethodNotAllowedError(c.req.method, methods), deps),
    }),
  );
  serveHealth(app, deps);
  serveJobs(app, deps);
  serveJobStream(app, deps);
  serveChat(app, deps);
  serveModels(app, deps);
  serveCargos(app, deps);
  serveAccount(app, deps);
  serveAuth(app, deps);
  serveApiKeys(app, deps);
  serveRecommendations(app, deps);
  serveModelFiles(app, deps);
  serveOpenApi(app, deps);
  return app;
}

/** The one place where what was thrown becomes an answer, and where a fault of ours is logged. */
function refuse(c: Context<HttpEnv>, thrown: unknown, { log }: Pick<HttpDeps, "log">): Response {
  const requestId = c.get("requestId");
  if (!(thrown instanceof ServiceError)) log.error({ err: thrown, request_id: requestId }, "request failed");
  const forOpenAi = OPENAI_PATHS.some((path) => c.req.path.startsWith(path));
  const { status, headers, body } = answerError(thrown, { requestId, forOpenAi });
  return c.json(body, status as ContentfulStatusCode, headers);
}

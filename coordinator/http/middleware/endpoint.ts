import type { RouteConfig, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import type { Scope } from "../../store/accounts/credentials.ts";
import type { Identity } from "../../accounts/identity.ts";
import { authenticate, requireOperator, requireScope } from "./auth.ts";
import { readJson, validate } from "./body.ts";
import { checkParameters, IGNORED_HEADER } from "../openai/parameters.ts";
import { errorStyleOf, type HttpApp, type HttpDeps, type HttpEnv } from "../http-deps.ts";
import { documentedRoute, type DocumentedScope } from "../openapi/documented-route.ts";

type HttpRoute = RouteConfig & { getRoutingPath(): string };
/** A route with a JSON body. */
type JsonRoute = HttpRoute & { request: { body: { content: { "application/json": { schema: z.ZodType } } } } };

type SchemaAt<R, Part extends string> = R extends { request: Record<Part, infer S extends z.ZodType> }
  ? z.output<S>
  : undefined;

type BodyOf<R> = R extends {
  request: { body: { content: { "application/json": { schema: infer S extends z.ZodType } } } };
}
  ? z.output<S>
  : undefined;

/** A request whose parts have passed the schemas of its route. */
export interface Call<R> {
  readonly c: Context<HttpEnv>;
  readonly params: SchemaAt<R, "params">;
  readonly query: SchemaAt<R, "query">;
  readonly body: BodyOf<R>;
  /** The JSON body as it came, with members that the schema does not know; undefined without a body. */
  readonly given: unknown;
}

type Answer = Response | Promise<Response>;

/** Serves `route` to anyone; each request counts for the client's address. */
export function servePublic<R extends HttpRoute>(app: HttpApp, route: R, handle: (call: Call<R>) => Answer): void {
  register(app, route, null, async (c) => {
    c.get("limits").countAddress(c.env.incoming);
    return handle(await readCall(c, route));
  });
}

/**
 * Serves `route` to callers whose key or session has `scope`. The checks run in this order, cheapest first; the body is read
 * only when the caller is known.
 */
export function serveScoped<R extends HttpRoute>(
  app: HttpApp,
  { accounts }: Pick<HttpDeps, "accounts">,
  scope: Scope,
  route: R,
  handle: (call: Call<R> & { readonly identity: Identity }) => Answer,
): void {
  register(app, route, scope, async (c) => {
    const limits = c.get("limits");
    const identity = await authenticate(accounts, c.env.incoming, limits);
    c.set("accountId", identity.accountId);
    // Before all other checks: a request that they refuse counts too.
    const counted = limits.countCaller(identity, c.env.outgoing);
    if (counted !== undefined) await counted;
    requireScope(identity, scope);
    return handle({ ...(await readCall(c, route)), identity });
  });
}

/** A request of OpenAI's or Anthropic's API whose body has only parameters that its schema knows. */
export interface CompatibleCall<R> extends Call<R> {
  readonly identity: Identity;
  /** Paths of the parameters that are ignored. */
  readonly ignored: readonly string[];
}

/** Serves `route` to callers with the scope `write`. Every response names the parameters that were ignored. */
export function serveCompatible<R extends JsonRoute>(
  app: HttpApp,
  deps: Pick<HttpDeps, "accounts">,
  route: R,
  handle: (call: CompatibleCall<R>) => Answer,
): void {
  serveScoped(app, deps, "write", route, (call) => {
    const { schema } = route.request.body.content["application/json"];
    const ignored = checkParameters(schema, call.given, errorStyleOf(route.path));
    nameIgnored(call.c, ignored);
    return handle({ ...call, ignored });
  });
}

/** Names ignored parameters in the head of a response. */
export function nameIgnored(c: Context<HttpEnv>, ignored: readonly string[]): void {
  const { outgoing } = c.env;
  if (ignored.length > 0 && !outgoing.headersSent) outgoing.setHeader(IGNORED_HEADER, ignored.join(", "));
}

/** Serves `route` to operators who have signed in, as {@link serveScoped} does to others. */
export function serveOperator<R extends HttpRoute>(
  app: HttpApp,
  { accounts }: Pick<HttpDeps, "accounts">,
  route: R,
  handle: (call: Call<R> & { readonly identity: Identity }) => Answer,
): void {
  register(app, route, "operator", async (c) => {
    const limits = c.get("limits");
    const identity = await authenticate(accounts, c.env.incoming, limits);
    c.set("accountId", identity.accountId);
    const counted = limits.countCaller(identity, c.env.outgoing);
    if (counted !== undefined) await counted;
    requireOperator(identity);
    return handle({ ...(await readCall(c, route)), identity });
  });
}

function register(
  app: HttpApp,
  route: HttpRoute,
  scope: DocumentedScope | null,
  handle: (c: Context<HttpEnv>) => Promise<Response>,
): void {
  app.openAPIRegistry.registerPath(documentedRoute(route, scope, errorStyleOf(route.path)));
  app.on(route.method, route.path.replaceAll(/\{(.+?)\}/g, ":$1"), (c) => handle(c).catch(rethrow));
}

/** Hono passes only Errors to `onError` and answers anything else itself. */
function rethrow(thrown: unknown): never {
  throw thrown instanceof Error ? thrown : new Error("Something other than an Error was thrown", { cause: thrown });
}

const NUL_REFUSED = "must not have a NUL character";

/** PostgreSQL has no text with a NUL, not even to compare with. */
function assertNoNulIn(texts: Readonly<Record<string, string>>, refusalOf: (name: string) => Error): void {
  for (const [name, text] of Object.entries(texts)) if (text.includes("\0")) throw refusalOf(name);
}

async function readCall<R extends HttpRoute>(c: Context<HttpEnv>, route: R): Promise<Call<R>> {
  const { params, query, body } = route.request ?? {};
  const content = body?.content["application/json"];
  const bodySchema = content !== undefined && "schema" in content ? (content.schema as z.ZodType) : undefined;
  if (params !== undefined)
    assertNoNulIn(c.req.param(), () => new ServiceError("not_found", "No id has a NUL character"));
  if (query !== undefined)
    assertNoNulIn(c.req.query(), (path) => new ValidationError([{ path, message: NUL_REFUSED }]));
  const given = bodySchema === undefined ? undefined : await readJson(c.env.incoming);
  const parts = {
    params: params === undefined ? undefined : validate(params as z.ZodType, c.req.param()),
    query: query === undefined ? undefined : validate(query as z.ZodType, c.req.query()),
    body: bodySchema === undefined ? undefined : validate(bodySchema, given),
    given,
  };
  return { c, ...parts } as Call<R>;
}

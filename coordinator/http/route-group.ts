import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import type { Identity } from "../accounts/identity.ts";
import type { ErrorStyle } from "./error-responses.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "./http-deps.ts";
import { authenticate, requireOperator, requireScope } from "./middleware/auth.ts";
import { largeBodyOf, readJson, validate } from "./middleware/body.ts";
import { checkParameters, IGNORED_HEADER } from "./openai/parameters.ts";
import { documentedRoute, METHODS, type Method, type RouteSpec, type Tag } from "./openapi/documented-route.ts";
import { isOpenAiConversations } from "./vendor-paths.ts";

type OutputAt<Spec, Part extends string> =
  Spec extends Readonly<Record<Part, infer S extends z.ZodType>> ? z.output<S> : undefined;

/** The parameter names of a path: `"id" | "version"` for `/{id}/versions/{version}`. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** A request whose parts have passed the schemas of its route. */
export interface Call<Path extends string = string, Spec = unknown> {
  readonly c: Context<HttpEnv>;
  readonly params: Readonly<Record<NamesIn<Path>, string>>;
  readonly query: OutputAt<Spec, "query">;
  readonly body: OutputAt<Spec, "body">;
  readonly identity: Spec extends { readonly access: "public" } ? undefined : Identity;
  /** Paths of the ignored parameters; empty for a route that is not compatible with a vendor's. */
  readonly ignored: readonly string[];
}

type JsonOf<Documented> = Documented extends {
  readonly content: { readonly "application/json": { readonly schema: infer S extends z.ZodType } };
}
  ? z.input<S>
  : never;
/** Result of a handler: JSON of one of the route's responses, a response, or null if the client has disconnected. */
type Returned<Spec extends RouteSpec> = Response | JsonOf<Spec["responses"][keyof Spec["responses"]]> | null;

type AddRoute = <const Path extends string, const Spec extends RouteSpec>(
  path: Path,
  spec: Spec,
) => (handle: (call: Call<Path, Spec>) => Returned<Spec> | Promise<Returned<Spec>>) => void;

type Routes = Readonly<Record<Method, AddRoute>> & {
  /** The app, for paths outside the API, which are not in the document. */
  readonly app: HttpApp;
};

/** Access and failures of vendors' operations whose client waits for jobs. */
export const WAITS_FOR_JOBS = { access: "write", isCompatible: true, fails: [402, 404, 409] } as const;

/** The parts of a request that decide the format of its errors. */
export interface StyledRequest {
  readonly path: string;
  header(name: string): string | undefined;
}

export interface RouteGroup {
  /** Path of the group below API_BASE. */
  readonly prefix: string;
  readonly tag: Tag;
  /** Format of errors, even at paths below the prefix that have no route. */
  readonly style: ErrorStyle;
  /** Chooses the format of errors at paths that clients of several vendors call. Default: `style`. */
  readonly styleOf?: (request: StyledRequest) => ErrorStyle;
  readonly add: (routes: Routes, deps: HttpDeps) => void;
}

export function routeGroup(
  prefix: string,
  about: Pick<RouteGroup, "tag" | "styleOf"> & { readonly style?: ErrorStyle },
  add: RouteGroup["add"],
): RouteGroup {
  return { prefix, style: "plain", ...about, add };
}

/** Returns a function that finds the error format of a request by the prefix of its path. */
export function errorStyles(groups: readonly RouteGroup[]): (request: StyledRequest) => ErrorStyle {
  const styled = groups
    .filter(({ style }) => style !== "plain")
    .map((group) => ({ ...group, base: `${API_BASE}${group.prefix}` }));
  return (request) => {
    const { path } = request;
    if (isOpenAiConversations(path)) return "openai";
    const group = styled.find(({ base }) => path.startsWith(base) && (path[base.length] ?? "/") === "/");
    return group?.styleOf?.(request) ?? group?.style ?? "plain";
  };
}

export function serveGroup(app: HttpApp, group: RouteGroup, deps: HttpDeps): void {
  const adder =
    (method: Method): AddRoute =>
    (path, spec) =>
    (handle) => {
      const full = `${API_BASE}${group.prefix}${path}`;
      app.openAPIRegistry.registerPath(documentedRoute(method, full, spec, group));
      const status = Number(Object.keys(spec.responses)[0]) as ContentfulStatusCode;
      const respond = async (c: Context<HttpEnv>): Promise<Response> => {
        const call = (await checked(c, path, spec, group.style, deps)) as Parameters<typeof handle>[0];
        const result = await handle(call);
        // RESPONSE_ALREADY_SENT was created before the server replaced the class `Response`, so `instanceof` fails.
        if (result === null || result === RESPONSE_ALREADY_SENT) return RESPONSE_ALREADY_SENT;
        return result instanceof Response ? result : c.json(result as object, status);
      };
      app.on(method, full.replaceAll(/\{(.+?)\}/g, ":$1"), (c) => respond(c).catch(rethrow));
    };
  const added = Object.fromEntries(METHODS.map((method) => [method, adder(method)])) as Record<Method, AddRoute>;
  group.add({ ...added, app }, deps);
}

/** Throws an Error in any case: Hono passes only Errors to `onError` and handles other values itself. */
function rethrow(thrown: unknown): never {
  throw thrown instanceof Error ? thrown : new Error("A value that is not an Error was thrown", { cause: thrown });
}

/** Checks the request, cheapest check first. The body is read only when the caller is known. @throws {ServiceError} */
async function checked(
  c: Context<HttpEnv>,
  path: string,
  spec: RouteSpec,
  style: ErrorStyle,
  { accounts }: HttpDeps,
): Promise<unknown> {
  const { access } = spec;
  const limits = c.get("limits");
  let identity: Identity | undefined;
  if (access === "public") {
    limits.countAddress(c.env.incoming);
  } else {
    identity = await authenticate(accounts, c.env.incoming, limits);
    c.set("accountId", identity.accountId);
    // The request is counted before all other checks, so that refused requests count too.
    const counted = limits.countCaller(identity, c.env.outgoing);
    if (counted !== undefined) await counted;
    if (access === "operator") requireOperator(identity);
    else requireScope(identity, access);
  }
  if (path.includes("{"))
    assertNoNulIn(
      c.req.param(),
      () => new ServiceError("not_found", "The id in the path contains a NUL character; no id does"),
    );
  if (spec.query !== undefined)
    assertNoNulIn(c.req.query(), (name) => new ValidationError([{ path: name, message: NUL_REFUSED }]));
  const large = spec.mayHaveImages === true ? largeBodyOf(identity?.accountId ?? "") : undefined;
  const given = spec.body === undefined ? undefined : await readJson(c.env.incoming, large, spec.inputTexts);
  const parts = {
    params: c.req.param(),
    query: spec.query === undefined ? undefined : validate(spec.query, c.req.query()),
    body: spec.body === undefined ? undefined : validate(spec.body, given),
  };
  const ignored = spec.isCompatible === true && spec.body !== undefined ? checkParameters(spec.body, given, style) : [];
  nameIgnored(c, ignored);
  return { c, ...parts, identity, ignored };
}

export function nameIgnored(c: Context<HttpEnv>, ignored: readonly string[]): void {
  const { outgoing } = c.env;
  if (ignored.length > 0 && !outgoing.headersSent) outgoing.setHeader(IGNORED_HEADER, ignored.join(", "));
}

const NUL_REFUSED = "must not contain a NUL character";

/** Refuses a text with a NUL, which PostgreSQL does not accept, not even for comparisons. */
function assertNoNulIn(texts: Readonly<Record<string, string>>, refusalOf: (name: string) => Error): void {
  for (const [name, text] of Object.entries(texts)) if (text.includes("\0")) throw refusalOf(name);
}

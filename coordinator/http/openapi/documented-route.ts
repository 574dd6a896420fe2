import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RouteConfig } from "@hono/zod-openapi";
import type { Scope } from "../../store/accounts/credentials.ts";
import type { ErrorStyle } from "../error-answers.ts";
import { failureResponses, type FailureStatus } from "./failure-responses.ts";
import { headersOf, type HeaderRefs } from "./headers.ts";
import { tagOf } from "./tags.ts";

type Response = NonNullable<RouteConfig["responses"][string]>;
type OwnResponse = Exclude<Response, { $ref: string }>;
type Content = NonNullable<OwnResponse["content"]>;
type Body = NonNullable<NonNullable<RouteConfig["request"]>["body"]>;

/** A request and the JSON of its successful response by operationId, from tests of routes: `npm run docs:examples` writes them. */
const EXAMPLES = JSON.parse(readFileSync(join(import.meta.dirname, "examples.json"), "utf8")) as Readonly<
  Record<string, { readonly request?: unknown; readonly response?: unknown }>
>;

/** What a credential needs: a scope, or to be the session of an operator. */
export type DocumentedScope = Scope | "operator";

/**
 * A route as the document shows it. Adds what every route of its kind has, so that a route declares only its own: the failures
 * of `middleware/endpoint.ts`, the headers, tag, security and example.
 * @param scope Null: public.
 * @throws {Error} for a route without an operationId.
 */
export function documentedRoute(route: RouteConfig, scope: DocumentedScope | null, style: ErrorStyle): RouteConfig {
  const { operationId, method, path, request } = route;
  if (operationId === undefined) throw new Error(`${method} ${path} has no operationId`);
  const example = EXAMPLES[operationId] ?? {};
  const responses = Object.entries(route.responses);
  const own = responses.flatMap(([status, response]): [string, OwnResponse][] =>
    isReference(response)
      ? []
      : [
          [
            status,
            documentedResponse(
              status,
              response,
              headersOf(scope !== null, method === "post" && style !== "plain"),
              // Only an accepted request has this status, and its answer is not the operation's usual one.
              status === "202" ? undefined : example.response,
            ),
          ],
        ],
  );
  const refused = responses.flatMap(([status, response]) => (isReference(response) ? [Number(status)] : []));
  const failures = [...refused, ...impliedFailures(route, scope)] as FailureStatus[];
  return {
    ...route,
    tags: [tagOf(path)],
    security: route.security ?? (scope === null ? [] : [{ bearer: [scope] }, { console: [] }]),
    ...(request?.body === undefined
      ? {}
      : {
          request: { ...request, body: bodyWithExample(request.body, operationId) },
        }),
    // The route's own answer for a status (503 of /health) replaces the common one.
    responses: { ...failureResponses(failures, style), ...Object.fromEntries(own) },
  };
}

function isReference(response: Response): response is Extract<Response, { $ref: string }> {
  return "$ref" in response;
}

/** A body with the example of its operation's request. */
export function bodyWithExample(body: Body, operationId: string): Body {
  return { ...body, content: withExample(body.content, EXAMPLES[operationId]?.request) };
}

function documentedResponse(status: string, response: OwnResponse, headers: HeaderRefs, example: unknown): OwnResponse {
  const { content } = response;
  const isSuccess = Number(status) < 300;
  return {
    ...response,
    headers,
    ...(content === undefined ? {} : { content: isSuccess ? withExample(content, example) : content }),
  };
}

/** Failures that can come before the route's handler, and 500. */
function impliedFailures({ method, request }: RouteConfig, scope: DocumentedScope | null): FailureStatus[] {
  return [
    ...(scope === null ? [] : ([401, 403] as const)),
    ...(request?.body === undefined ? [] : ([400, 413, 422] as const)),
    ...(request?.query === undefined ? [] : ([422] as const)),
    429,
    500,
    // Writes are refused while the coordinator shuts down.
    ...(method === "get" ? [] : ([503] as const)),
  ];
}

/** `content` with an example beside the schema of its JSON. */
function withExample(content: Content, example: unknown): Content {
  const json = content["application/json"];
  if (example === undefined || json === undefined) return content;
  return { ...content, "application/json": { ...json, example } };
}

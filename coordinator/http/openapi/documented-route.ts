import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Scope } from "../../store/accounts/credentials.ts";
import type { ErrorStyle } from "../error-responses.ts";
import { failureResponses, type FailureStatus } from "./failure-responses.ts";
import { headersOf } from "./headers.ts";

/** Descriptions of the groups of operations, in the order of the document. */
const TAGS = {
  Jobs: "Submit work now and fetch the result later",
  Chat: "Chats, completions, embeddings, images and audio; compatible with OpenAI's and Anthropic's clients",
  Files: "Files for large inputs and outputs; compatible with OpenAI's clients",
  Conversations: "Chats whose history the coordinator stores",
  Cargos: "The catalog, and your own Cargos",
  Account: "Credits, keys and sessions",
  Islands: "Hosting: Islands, their tokens and their earnings",
  Operator: "Operation of the network; needs an operator's session",
  Service: "Health, metrics, downloads and this document",
  Webhooks: "Requests that the coordinator sends to the `webhook_url` of a job or batch",
};

export type Tag = keyof typeof TAGS;

export const TAGS_DOC = Object.entries(TAGS).map(([name, description]) => ({ name, description }));

type DocumentedResponse = Exclude<RouteConfig["responses"][string], { $ref: string }>;
type Content = NonNullable<DocumentedResponse["content"]>;

/** Examples of bodies by operationId. `npm run docs:examples` records them from tests of routes. */
const EXAMPLES = JSON.parse(readFileSync(join(import.meta.dirname, "examples.json"), "utf8")) as Readonly<
  Record<string, { readonly request?: unknown; readonly response?: unknown }>
>;

export type Access = "public" | Scope | "operator";

/** Documentation of an operation, and the checks before its handler is called. */
export interface RouteSpec {
  readonly id: string;
  /** The operation's `summary`. */
  readonly is: string;
  /** The operation's `description`. */
  readonly about?: string;
  readonly access: Access;
  /** The operation's `security` in the document. Default: derived from `access`. */
  readonly security?: RouteConfig["security"];
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Whether the body may have images, so that it may be larger than others. */
  readonly mayHaveImages?: true;
  /** Member of the body that is a list of inputs, which become `InputText`. */
  readonly inputTexts?: string;
  /** Schema of a multipart form, which the handler reads itself. */
  readonly form?: z.ZodType;
  /** Successful responses, and failures with their own bodies. JSON that the handler returns gets the lowest status. */
  readonly responses: Readonly<Record<number, DocumentedResponse>>;
  /** Failures besides the common ones. */
  readonly fails?: readonly FailureStatus[];
  /** Whether the body follows a vendor's API: unknown parameters are refused, and a header names ignored ones. */
  readonly isCompatible?: boolean;
}

export const METHODS = ["get", "post", "put", "patch", "delete"] as const;
export type Method = (typeof METHODS)[number];

/** Returns an operation for the document, with the common failures, headers, security and example. */
export function documentedRoute(
  method: Method,
  path: string,
  spec: RouteSpec,
  { style, tag }: { readonly style: ErrorStyle; readonly tag: Tag },
): RouteConfig {
  const { id, is, about, access, security, query, headers, body, form, responses, fails = [] } = spec;
  const names = [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => [name, z.string()] as const);
  const content =
    body === undefined ? form && { "multipart/form-data": { schema: form } } : { "application/json": { schema: body } };
  const successHeaders = headersOf(access !== "public", method === "post" && style !== "plain");
  const own = Object.entries(responses).map(([status, response]) => {
    // The example does not show the 202, which only acknowledges the request.
    const isUsual = Number(status) < 300 && status !== "202";
    const { content: shown } = response;
    const example = shown === undefined || !isUsual ? {} : { content: withExample(shown, EXAMPLES[id]?.response) };
    return [status, { ...response, headers: successHeaders, ...example }] as const;
  });
  return {
    operationId: id,
    method,
    path,
    summary: is,
    ...(about === undefined ? {} : { description: about }),
    request: {
      ...(names.length === 0 ? {} : { params: z.object(Object.fromEntries(names)) }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(content === undefined ? {} : { body: bodyWithExample(content, id) }),
    },
    // The operation's own response to a status (503 of /health) replaces the common one.
    responses: {
      ...failureResponses([...fails, ...impliedFailures(method, spec)], style),
      ...Object.fromEntries(own),
    },
    tags: [tag],
    security: security ?? (access === "public" ? [] : [{ bearer: [access] }, { console: [] }]),
  };
}

export function bodyWithExample(content: Content, operationId: string) {
  return { required: true, content: withExample(content, EXAMPLES[operationId]?.request) };
}

/** Returns the statuses of failures that can occur before the handler is called, and 500. */
function impliedFailures(method: Method, { access, query, body, form }: RouteSpec): FailureStatus[] {
  return [
    ...(access === "public" ? [] : ([401, 403] as const)),
    ...(body === undefined && form === undefined ? [] : ([400, 413, 422] as const)),
    ...(query === undefined ? [] : ([422] as const)),
    429,
    500,
    // Writes are refused while the coordinator shuts down.
    ...(method === "get" ? [] : ([503] as const)),
  ];
}

function withExample(content: Content, example: unknown): Content {
  const json = content["application/json"];
  if (example === undefined || json === undefined) return content;
  return { ...content, "application/json": { ...json, example } };
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Scope } from "../../store/accounts/credentials.ts";
import type { ErrorStyle } from "../error-answers.ts";
import { failureResponses, type FailureStatus } from "./failure-responses.ts";
import { headersOf } from "./headers.ts";

/** What the document says of each group of operations, in its order. */
const TAGS = {
  Jobs: "Submit work now, fetch the result later",
  Chat: "Compatible with OpenAI's clients",
  Files: "Large inputs and outputs; compatible with OpenAI's clients",
  Conversations: "Chats whose history the coordinator stores",
  Cargos: "The catalog, and Cargos of your own",
  Account: "Credits, keys and sessions",
  Islands: "For hosts",
  Operator: "For who runs the network: a session of an operator",
  Service: "About the coordinator itself",
  Webhooks: "Requests that the coordinator sends to the webhook_url of a job or batch",
};

export type Tag = keyof typeof TAGS;

export const TAGS_DOC = Object.entries(TAGS).map(([name, description]) => ({ name, description }));

type DocumentedAnswer = Exclude<RouteConfig["responses"][string], { $ref: string }>;
type Content = NonNullable<DocumentedAnswer["content"]>;

/** A request and the JSON of its successful response by operationId, from tests of routes: `npm run docs:examples` writes them. */
const EXAMPLES = JSON.parse(readFileSync(join(import.meta.dirname, "examples.json"), "utf8")) as Readonly<
  Record<string, { readonly request?: unknown; readonly response?: unknown }>
>;

/** Who may call: anyone, a key or session with a scope, or the session of an operator. */
export type Access = "public" | Scope | "operator";

/** What the document says of an operation, and what is checked before its handler is called. */
export interface RouteSpec {
  /** The operationId. */
  readonly id: string;
  /** The summary. */
  readonly is: string;
  /** The description. */
  readonly about?: string;
  readonly access: Access;
  /** What the document says of credentials. Absent: what follows from `access`. */
  readonly security?: RouteConfig["security"];
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The multipart form, which the handler reads. */
  readonly form?: z.ZodType;
  /** The successful answers, and failures with bodies of their own. A value that the handler returns has the lowest status. */
  readonly answers: Readonly<Record<number, DocumentedAnswer>>;
  /** Failures of this operation alone; the common ones are added. */
  readonly fails?: readonly FailureStatus[];
  /** Whether the parameters of the body are those of a vendor's API: each must be known, and those that are ignored are named. */
  readonly isCompatible?: boolean;
}

export type Method = "get" | "post" | "patch" | "delete";

/** An operation as the document shows it, with what every operation of its kind has: failures, headers, security and example. */
export function documentedRoute(
  method: Method,
  path: string,
  spec: RouteSpec,
  { style, tag }: { readonly style: ErrorStyle; readonly tag: Tag },
): RouteConfig {
  const { id, is, about, access, security, query, headers, body, form, answers, fails = [] } = spec;
  const names = [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => [name, z.string()] as const);
  const content =
    body === undefined ? form && { "multipart/form-data": { schema: form } } : { "application/json": { schema: body } };
  const answerHeaders = headersOf(access !== "public", method === "post" && style !== "plain");
  const own = Object.entries(answers).map(([status, answer]) => {
    // Only an accepted request has the status 202, and its answer is not the operation's usual one.
    const isUsual = Number(status) < 300 && status !== "202";
    const { content: shown } = answer;
    const example = shown === undefined || !isUsual ? {} : { content: withExample(shown, EXAMPLES[id]?.response) };
    return [status, { ...answer, headers: answerHeaders, ...example }] as const;
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
    // The operation's own answer for a status (503 of /health) replaces the common one.
    responses: {
      ...failureResponses([...fails, ...impliedFailures(method, spec)], style),
      ...Object.fromEntries(own),
    },
    tags: [tag],
    security: security ?? (access === "public" ? [] : [{ bearer: [access] }, { console: [] }]),
  };
}

/** A body with the example of its operation's request. */
export function bodyWithExample(content: Content, operationId: string) {
  return { required: true, content: withExample(content, EXAMPLES[operationId]?.request) };
}

/** Failures that can come before the handler, and 500. */
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

import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { SESSION_COOKIE } from "../server/console-session.ts";
import { registerFailures } from "./failure-responses.ts";
import { registerHeaders } from "./headers.ts";
import { TAGS_DOC } from "./documented-route.ts";

const DESCRIPTION = `The API of an Atoll coordinator: jobs, chats, files and the catalog of a compute network.

- All paths start with \`${API_BASE}\`. Bodies are JSON in UTF-8, at most 1 MB.
- Errors are \`{"error": {"message", "code"}}\`. Act on \`code\` and show \`message\`. A method that a path does not support is 405, with \`Allow\`.
- \`/v1\` serves the same API with OpenAI's and Anthropic's statuses: 400 instead of 422. \`POST /v2/rerank\`, for Cohere's client, is the same as \`POST /v1/rerank\`. \`/v1/conversations\` is not served, because OpenAI's conversations differ.
- A request that is not valid HTTP gets the same error body on any path, with the code \`bad_request\`, and the connection closes. Statuses: 400 (malformed, or without a usable Host), 408 (too slow), 413 (chunk extensions too large), 417 (an \`Expect\` other than 100-continue) and 431 (headers above 16 KB).
- A client that closes its side of the connection has disconnected: the chat or embedding that it waits for is cancelled.
- Responses may get new members and streams new kinds of events without a new version. Ignore the ones that you do not know.
- GET paths also serve HEAD.
- The data of each Server-Sent Event is one line; a \`text/event-stream\` schema describes that data. Comment lines keep a silent stream open.`;

/** Returns the OpenAPI 3.1 document of all routes and webhooks registered so far, as parsed JSON. */
export function openApiDocument(app: HttpApp, { version, options }: HttpDeps): unknown {
  registerFailures(app.openAPIRegistry);
  registerHeaders(app.openAPIRegistry);
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description:
      "An API key (ak_…) with the scopes that the operation names, or a session token (st_…), which has every scope. The scope `operator` needs the session token of an operator",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "console", {
    type: "apiKey",
    in: "cookie",
    name: SESSION_COOKIE,
    description:
      "The session of the coordinator's own web pages. Accepted only without `Authorization`, and only with the header `Atoll-Console: 1` or in a same-origin GET that accepts text/event-stream",
  });
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title: "Atoll", version, description: DESCRIPTION, license: { name: "MIT" } },
    servers: [{ url: options.publicUrl ?? "/" }],
    tags: TAGS_DOC,
  });
  return mergeAllOf(JSON.parse(JSON.stringify(document)), document.components?.schemas ?? {});
}

/** The members of an OpenAPI schema that this file reads. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}
type Schemas = Readonly<Record<string, Schema>>;

const PREFIX = "#/components/schemas/";

/**
 * Returns the document without `allOf`. The generator writes `allOf` for an extended component, which becomes one
 * schema with all members, and for a component with another description, which becomes a reference with that
 * description. Client generators then make one type, and one place can set `additionalProperties`.
 */
function mergeAllOf(document: unknown, schemas: Schemas): unknown {
  if (Array.isArray(document)) return document.map((each) => mergeAllOf(each, schemas));
  if (typeof document !== "object" || document === null) return document;
  const { allOf, ...rest } = document as Schema;
  // An example may have a member named `allOf`; only a list is the keyword.
  const plain = Array.isArray(allOf) ? { ...rest, ...merge(allOf, schemas) } : document;
  return Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, mergeAllOf(value, schemas)]));
}

function merge(parts: readonly Schema[], schemas: Schemas): Schema {
  const [base, ...additions] = parts;
  if (base?.$ref !== undefined && additions.every(({ properties }) => properties === undefined)) {
    return Object.assign({}, base, ...additions) as Schema;
  }
  const objects = parts.map((part) => resolve(part, schemas));
  return {
    ...(Object.assign({}, ...objects) as Schema),
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)) as Record<string, unknown>,
    required: [...new Set(objects.flatMap(({ required = [] }) => required))],
  };
}

/** Returns the schema that a reference names, with its own `allOf` merged. */
function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const target = schemas[schema.$ref.slice(PREFIX.length)];
  if (target === undefined) throw new Error(`${schema.$ref} is not in the document`);
  return target.allOf === undefined ? target : merge(target.allOf, schemas);
}

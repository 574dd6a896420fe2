import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { SESSION_COOKIE } from "../server/console-session.ts";
import { registerFailures } from "./failure-responses.ts";
import { registerHeaders } from "./headers.ts";
import { TAGS_DOC } from "./documented-route.ts";

const DESCRIPTION = `A compute network that anyone can run: jobs, chats and the catalog of an Atoll coordinator.

- All paths start with \`${API_BASE}\`. Bodies are JSON in UTF-8, at most 1 MB.
- Errors are \`{"error": {"message", "code"}}\`: act on \`code\`, show \`message\`. A method that a path does not have is 405, with \`Allow\`.
- \`/v1\` is the same API with the statuses of OpenAI's and Anthropic's: what is 422 here is 400 there. \`POST /v2/rerank\`, for Cohere's client, is \`POST /v1/rerank\`. \`/v1/conversations\` is not served: OpenAI's conversations are others.
- A request that is not valid HTTP gets the same error body on any path, and the connection closes: 400 (malformed, or no usable Host), 408 (too slow), 413 (chunk extensions too large), 417 (an \`Expect\` other than 100-continue) or 431 (headers above 16 KB), each with the code \`bad_request\`.
- A client that closes its side of the connection has left: a chat or embedding that it waits for is cancelled.
- New members of answers and new kinds of events may appear without a new version: ignore those that you do not know.
- GET paths also answer HEAD.
- The data of each Server-Sent Event is one line; a \`text/event-stream\` schema describes that data. Comment lines keep a silent stream open.`;

/** The OpenAPI 3.1 document of all routes and webhooks registered so far, as parsed JSON. */
export function openApiDocument(app: HttpApp, { version, options }: HttpDeps): unknown {
  registerFailures(app.openAPIRegistry);
  registerHeaders(app.openAPIRegistry);
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description:
      "An API key (ak_…) with the scopes that the operation names, or a session token (st_…), which has every scope. The scope operator: " +
      "the session token of an operator, and no key",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "console", {
    type: "apiKey",
    in: "cookie",
    name: SESSION_COOKIE,
    description:
      "The session of a page of the coordinator itself. Counts only with the header `Atoll-Console: 1`, or in a GET of its own origin that " +
      "accepts text/event-stream, and without `Authorization`",
  });
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Atoll",
      version,
      description: DESCRIPTION,
      license: { name: "MIT" },
    },
    servers: [{ url: options.publicUrl ?? "/" }],
    tags: TAGS_DOC,
  });
  return mergeAllOf(JSON.parse(JSON.stringify(document)), document.components?.schemas ?? {});
}

/** The members of a schema that matter here. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}
type Schemas = Readonly<Record<string, Schema>>;

const PREFIX = "#/components/schemas/";

/**
 * The document without `allOf`. The generator writes it for a component that was extended, which becomes one schema with all
 * members, and for one with a description of its own, which becomes a reference with that description. So readers see one
 * object, client generators make one type, and a schema can be closed with `additionalProperties` in one place.
 * @param document Parsed JSON; not changed.
 */
function mergeAllOf(document: unknown, schemas: Schemas): unknown {
  if (Array.isArray(document)) return document.map((each) => mergeAllOf(each, schemas));
  if (typeof document !== "object" || document === null) return document;
  const { allOf, ...rest } = document as Schema;
  // An example may have a member of this name; only a list is the keyword.
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

/** The schema that a reference names, with its own `allOf` merged. */
function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const target = schemas[schema.$ref.slice(PREFIX.length)];
  if (target === undefined) throw new Error(`${schema.$ref} is not in the document`);
  return target.allOf === undefined ? target : merge(target.allOf, schemas);
}

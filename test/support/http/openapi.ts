import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { dialects } from "../../../coordinator/dialects/dialects.ts";
import { apiGroups } from "../../../coordinator/http/app.ts";
import { errorStyles } from "../../../coordinator/http/route-group.ts";
import { canonicalPath, isVendorPath } from "../../../coordinator/http/vendor-paths.ts";
import { currentDocument as describedDocument } from "../../../tools/generated/api.ts";
import { closed, mapValues, type Schema } from "./closed-schemas.ts";

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
}
interface HeaderDoc {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}
export interface ResponseDoc {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, HeaderDoc>>;
  readonly content?: Readonly<Record<string, Media>>;
}
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, ResponseDoc>>;
}
export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, ResponseDoc>>;
    readonly headers: Readonly<Record<string, HeaderDoc>>;
  };
}

const styleOf = errorStyles(apiGroups(dialects({} as Parameters<typeof dialects>[0])));

let made: OpenApiDocument | undefined;

/** Returns the OpenAPI document of this source tree, which is created once per process. */
export function currentDocument(): OpenApiDocument {
  if (made !== undefined) return made;
  made = describedDocument() as OpenApiDocument;
  return made;
}

/** A response as a client receives it. `body` is the complete text, or null if it is not checked. */
export interface ReceivedResponse {
  readonly method: string;
  /** Path with or without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | null;
}

/** Checks responses against the document. Returns the problems in words, or an empty list for a correct response. */
export class ResponseValidator {
  readonly #document: OpenApiDocument;
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<Schema, ValidateFunction>();
  readonly #routes: readonly { readonly pattern: RegExp; readonly item: Readonly<Record<string, Operation>> }[];

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv = schemaChecker(mapValues(document.components.schemas, closed));
    this.#routes = Object.entries(document.paths)
      // Prefers the path with more literal segments.
      .sort(([a], [b]) => a.split("{").length - b.split("{").length)
      .map(([path, item]) => ({ item, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }));
  }

  /** Returns the operation for a request, or undefined if the document contains none. */
  operation(method: string, path: string): Operation | undefined {
    const name = method === "HEAD" ? "get" : method.toLowerCase();
    // A path may match several documented paths. "/jobs/batch" also matches "/jobs/{id}", which has a GET, while the
    // other path has none.
    return this.#items(path).find((item) => item[name] !== undefined)?.[name];
  }

  problems(received: ReceivedResponse): string[] {
    const { method, path, status } = received;
    const found = this.#find(received);
    // On the paths of other vendors' clients, the status is 400 where the document says 422.
    const isMoved = found.length > 0 && status === 400 && isVendorPath(path);
    return (isMoved ? this.#find({ ...received, status: 422 }) : found).map(
      (problem) => `${method} ${path} answered ${status}: ${problem}`,
    );
  }

  /** Returns the problems of one event's data. */
  eventProblems(
    received: Omit<ReceivedResponse, "body">,
    { event, data }: { event: string | null; data: string },
  ): string[] {
    const media = this.#responseOf(received)?.content?.["text/event-stream"];
    if (media === undefined) return ["no text/event-stream is documented"];
    const value: unknown = data === "[DONE]" ? data : parse(data);
    const problems = this.#check(media.schema, value);
    const type = (value as { type?: string } | undefined)?.type ?? null;
    if (event !== type && problems.length === 0) problems.push(`event ${event} has the type ${type}`);
    return problems.map(
      (problem) => `${received.method} ${received.path}: ${problem} in the event ${data.slice(0, 300)}`,
    );
  }

  /** Returns the problems of a delivered webhook, by its `type`. */
  webhookProblems(body: { readonly type: string }): string[] {
    const name = body.type.startsWith("batch.") ? "batch-finished" : "job-ended";
    const media = this.#document.webhooks[name]?.post.requestBody?.content["application/json"];
    if (media === undefined) return [`The webhook ${name} is not documented`];
    return this.#check(media.schema, body).map((problem) => `The webhook ${name}: ${problem}`);
  }

  #find(received: ReceivedResponse): string[] {
    const { method, headers, body } = received;
    const response = this.#responseOf(received);
    if (response === undefined) return ["not documented"];
    const problems = this.#headerProblems(response, headers);
    const type = headers.get("content-type")?.split(";")[0] ?? null;
    if (method === "HEAD" || body === null) return problems;
    if (response.content === undefined) return body === "" ? problems : [...problems, `a body that is not documented`];
    const media = type === null ? undefined : response.content[type];
    if (media === undefined) return [...problems, `content type ${type} is not documented`];
    if (type !== "application/json") return problems;
    return [...problems, ...this.#check(media.schema, parse(body))];
  }

  #responseOf({ method, path: requestPath, status }: Omit<ReceivedResponse, "body">): ResponseDoc | undefined {
    const path = canonicalPath(requestPath);
    const operation = this.operation(method, path);
    if (operation !== undefined) return this.#resolve(operation.responses[status]);
    // The document's description covers unknown paths and methods.
    if (method === "OPTIONS" && status === 204) return { headers: {} };
    const { responses } = this.#document.components;
    const family = { plain: "Error", openai: "OpenAiError", anthropic: "AnthropicError" }[
      styleOf({ path, header: () => undefined })
    ];
    if (status === 429) return responses[`${family}429`];
    return status === (this.#items(path).length === 0 ? 404 : 405) ? responses[`${family}404`] : undefined;
  }

  #items(path: string): Readonly<Record<string, Operation>>[] {
    const bare = path.split("?", 1)[0] ?? "";
    return this.#routes.filter(({ pattern }) => pattern.test(bare)).map(({ item }) => item);
  }

  #resolve(response: ResponseDoc | undefined): ResponseDoc | undefined {
    if (response?.$ref === undefined) return response;
    return this.#document.components.responses[nameOf(response.$ref)];
  }

  #headerProblems({ headers = {} }: ResponseDoc, sent: Headers): string[] {
    return Object.entries(headers).flatMap(([name, doc]) => {
      const { required, schema } =
        doc.$ref === undefined ? doc : (this.#document.components.headers[nameOf(doc.$ref)] ?? {});
      const value = sent.get(name);
      if (value === null) return required === true ? [`the header ${name} is missing`] : [];
      const isNumber = schema?.type === "integer";
      return this.#check(schema ?? {}, isNumber ? Number(value) : value).map((problem) => `${name}: ${problem}`);
    });
  }

  #check(schema: Schema, value: unknown): string[] {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(rebased(closed(schema)) as object);
      this.#compiled.set(schema, validate);
    }
    if (validate(value)) return [];
    return [this.#ajv.errorsText(validate.errors, { dataVar: "body" })];
  }
}

/** Returns an Ajv with the components under the names that {@link rebased} gives them. */
export function schemaChecker(components: Readonly<Record<string, Schema>>): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    allErrors: false,
    keywords: ["example", "discriminator"],
  });
  addFormats.default(ajv);
  for (const [name, schema] of Object.entries(components)) ajv.addSchema(rebased(schema) as object, idOf(name));
  return ajv;
}

/** Rewrites references so that they resolve to the components from any schema. */
export function rebased(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rebased);
  if (typeof schema !== "object" || schema === null) return schema;
  return mapValues(schema as Record<string, unknown>, (value) =>
    typeof value === "string" && value.startsWith("#/components/schemas/") ? idOf(nameOf(value)) : rebased(value),
  );
}

function idOf(component: string): string {
  return `openapi:${component}`;
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

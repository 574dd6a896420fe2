import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { closed, type Schema } from "../../../support/http/closed-schemas.ts";
import { Api } from "../api.ts";
import { currentDocument, rebased, schemaChecker, type Media, type Operation } from "../../../support/http/openapi.ts";

const document = currentDocument();
const { schemas } = document.components;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
);
const webhooks = Object.entries(document.webhooks).map(([name, { post }]): [string, Operation] => [name, post]);
const everything = [...operations, ...webhooks];

/** Every body in the document. */
const media = everything.flatMap(([name, { requestBody, responses }]) => [
  ...mediaOf(`${name} request`, requestBody?.content),
  ...Object.entries(responses).flatMap(([status, { content }]) => mediaOf(`${name} ${status}`, content)),
]);

function mediaOf(name: string, content: Readonly<Record<string, Media>> = {}): [string, Media][] {
  return Object.entries(content).map(([type, each]) => [`${name} ${type}`, each]);
}

/** One document for all checks, because it takes a tenth of a second to create. */
const ajv = schemaChecker(schemas);

function check(schema: Schema, value: unknown): string | null {
  const validate = ajv.compile(rebased(schema) as object);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

describe("the OpenAPI document", () => {
  it("matches the JSON Schema of OpenAPI 3.1", async () => {
    const file = join(import.meta.dirname, "..", "..", "..", "fixtures", "openapi", "oas-3.1.schema.json");
    const ofOpenApi = new Ajv2020({ strict: false });
    addFormats.default(ofOpenApi);
    ofOpenApi.addFormat("media-range", true);
    const validate = ofOpenApi.compile(JSON.parse(await readFile(file, "utf8")) as object);
    expect(validate(document) ? [] : validate.errors).toEqual([]);
    expect(validate({ ...document, info: {} })).toBe(false);
  });

  it("has schemas that Ajv compiles in strict mode, and no dangling reference", () => {
    for (const name of Object.keys(schemas)) ajv.compile(rebased({ $ref: `#/components/schemas/${name}` }) as object);
    for (const [, { schema }] of media) ajv.compile(rebased(schema) as object);
    const references = JSON.stringify(document).match(/#\/components\/[^"]+/g) ?? [];
    const known = Object.entries(document.components).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...new Set(references)].filter((reference) => !known.includes(reference))).toEqual([]);
  });

  it("has no nullable component, because each place allows null itself", () => {
    const nullable = Object.entries(schemas).filter(([, { type }]) => type?.includes("null"));
    expect(nullable.map(([name]) => name)).toEqual([]);
  });

  it("can be closed everywhere, so that tests find undocumented members", () => {
    expect(() => media.map(([, { schema }]) => closed(schema))).not.toThrow();
    expect(() => Object.values(schemas).map(closed)).not.toThrow();
  });

  it("gives every operation a unique id, one known tag and a summary", () => {
    const ids = everything.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const { tags } = document as unknown as { tags: { name: string }[] };
    const names = tags.map(({ name }) => name);
    for (const [name, operation] of everything) {
      expect([name, operation.tags.length, names.includes(operation.tags[0] ?? "")]).toEqual([name, 1, true]);
      expect((operation as unknown as { summary: string }).summary.length).toBeGreaterThan(5);
    }
  });

  it("names the scope of each operation that needs a key, and its security scheme", () => {
    const open = operations.filter(([, { security }]) => security.length === 0).map(([name]) => name);
    expect(open.sort()).toEqual([
      "delete /api/v1/island",
      "get /api/v1/announcements",
      "get /api/v1/cargos",
      "get /api/v1/docs",
      "get /api/v1/downloads",
      "get /api/v1/health",
      "get /api/v1/island/earnings",
      "get /api/v1/island/files/{id}",
      "get /api/v1/island/recommendations",
      "get /api/v1/metrics",
      "get /api/v1/network",
      "get /api/v1/openapi.json",
      "post /api/v1/auth/email",
      "post /api/v1/auth/login",
      "post /api/v1/auth/password/forgot",
      "post /api/v1/auth/password/reset",
      "post /api/v1/auth/register",
      "post /api/v1/auth/verify",
      "post /api/v1/island/pair",
    ]);
    const scopes = operations.flatMap(([, { security }]) => security.flatMap(({ bearer = [] }) => bearer));
    expect(new Set(scopes)).toEqual(new Set(["read", "write", "operator"]));
    expect(document.components).toMatchObject({ securitySchemes: { bearer: { type: "http", scheme: "bearer" } } });
  });

  it.each(operations)("%s documents the common responses", (name, operation) => {
    const statuses = Object.keys(operation.responses);
    const isScoped = operation.security.length > 0;
    const expected = [
      ...(isScoped ? ["401", "403"] : []),
      ...(operation.requestBody === undefined ? [] : ["400", "413", "422"]),
      "429",
      "500",
    ];
    expect(statuses).toEqual(expect.arrayContaining(expected));
    expect(statuses).not.toContain("default");
    expect(statuses.some((status) => /^[23]/.test(status))).toBe(true);
    if (name.includes("{")) expect(statuses).toContain("404");
  });

  it("documents limits in the headers of counted requests, and when to retry", () => {
    const submitted = document.paths["/api/v1/jobs"]?.["post"]?.responses["201"]?.headers ?? {};
    expect(Object.keys(submitted)).toEqual([
      "X-Request-Id",
      "X-RateLimit-Limit",
      "X-RateLimit-Remaining",
      "X-RateLimit-Reset",
    ]);
    const limited = document.components.responses["Error429"]?.headers ?? {};
    expect(limited["Retry-After"]).toEqual({ $ref: "#/components/headers/RetryAfter" });
    expect(document.components.headers["RetryAfter"]).toMatchObject({ required: true, schema: { type: "integer" } });
  });

  it("describes the data of the events of every stream", () => {
    const streams = media.filter(([name]) => name.endsWith("text/event-stream"));
    expect(streams.map(([name, { schema }]) => [name, schema.$ref])).toEqual([
      ["get /api/v1/jobs/{id}/stream 200 text/event-stream", "#/components/schemas/JobEvent"],
      ["post /api/v1/chat/completions 200 text/event-stream", "#/components/schemas/ChatCompletionEvent"],
      ["post /api/v1/completions 200 text/event-stream", "#/components/schemas/TextCompletionEvent"],
      ["post /api/v1/messages 200 text/event-stream", "#/components/schemas/AnthropicMessageEvent"],
      ["post /api/v1/responses 200 text/event-stream", "#/components/schemas/OpenAiResponseEvent"],
      ["post /api/v1/audio/speech 200 text/event-stream", "#/components/schemas/SpeechEvent"],
      ["post /api/v1/conversations/{id}/messages 200 text/event-stream", "#/components/schemas/ConversationEvent"],
      ["get /api/v1/events 200 text/event-stream", "#/components/schemas/AccountEvent"],
    ]);
    const kinds = schemas["JobEvent"]?.oneOf?.map(({ $ref }) => $ref?.split("/").at(-1));
    expect(kinds).toEqual([
      "StatusEvent",
      "TokenEvent",
      "ReasoningEvent",
      "ToolCallEvent",
      "ProgressEvent",
      "ImageEvent",
      "DoneEvent",
      "ErrorEvent",
    ]);
  });

  it.each([
    ["CreateApiKey", { name: "x".repeat(100), scopes: "read, write" }, true],
    ["CreateApiKey", { scopes: ["write"] }, true],
    ["CreateApiKey", { name: "x".repeat(101) }, false],
    ["CreateApiKey", { scopes: "read,admin" }, false],
    ["CreateApiKey", { scopes: "" }, false],
    ["CreateApiKey", { scopes: ["admin"] }, false],
    ["CreateApiKey", { scopes: [] }, false],
    ["Credentials", { email: "a@b", password: "x".repeat(200) }, true],
    ["Credentials", { email: "nobody", password: "long enough" }, false],
    ["Credentials", { email: `a@${"b".repeat(253)}`, password: "long enough" }, false],
    ["Credentials", { email: "a@b", password: "x".repeat(7) }, false],
    ["Credentials", { email: "a@b", password: "x".repeat(201) }, false],
  ])("states the bounds of %s: accepts %j: %j", async (component, body, isTaken) => {
    expect(check({ $ref: `#/components/schemas/${component}` }, body) === null).toBe(isTaken);
    await using api = await Api.open();
    const { status } = await api.call("POST", component === "CreateApiKey" ? "/api-keys" : "/auth/register", { body });
    expect(status).toBe(isTaken ? 201 : 422);
  });

  it("describes the webhooks", () => {
    expect(webhooks.map(([name, { requestBody }]) => [name, requestBody?.content["application/json"]?.schema])).toEqual(
      [
        ["job-ended", { $ref: "#/components/schemas/JobWebhook" }],
        ["batch-finished", { $ref: "#/components/schemas/BatchWebhook" }],
      ],
    );
  });
});

describe("examples", () => {
  const json = media.filter(([name]) => name.endsWith("application/json"));
  const needed = json.filter(
    // A network that requires a confirmed address responds with 202.
    ([name]) => /(request|20[01]) application\/json$/.test(name) && !name.includes("openapi.json"),
  );

  it.each(needed)("%s has one that its schema allows, without additional members", (_name, { schema, example }) => {
    expect(example).toBeDefined();
    expect(check(closed(schema), example)).toBeNull();
  });

  it("are refused where they are invalid", () => {
    const [, { schema }] = needed.find(([name]) => name === "post /api/v1/jobs request application/json") as [
      string,
      Media,
    ];
    expect(check(schema, { workload: "tiny-chat" })).toContain("input");
  });
});

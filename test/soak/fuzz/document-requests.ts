import fc from "fast-check";
import type { OpenApiDocument, Operation, Parameter } from "../../support/http/openapi.ts";
import { badTexts, badValues, changed, changes, hugeText } from "./bad-values.ts";
import { SchemaValues, type Hints } from "./schema-values.ts";

/** A request. In its path, `{n:kind}` stands for the id of the nth resource of a kind. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  readonly caller: "owner" | "reader" | "nobody" | "stranger";
  /** Whether to send the body in chunks, without its length. */
  readonly isChunked: boolean;
}

/** Paths that are excluded, because they hash a password and would slow down the run. */
const RARE = /\/auth\//;

const oddTypes = fc.constantFrom(
  "text/plain",
  "application/xml",
  "multipart/form-data",
  "application/json; charset=x",
  "",
);
const headerTexts = badTexts.map((text) => text.replaceAll(/[^\x20-\x7e\x80-\xff]/g, "").slice(0, 4_000));

/** Generates requests for all operations of `document`, most of them invalid. */
export function requestsOf(document: OpenApiDocument, hints: Hints): fc.Arbitrary<FuzzRequest> {
  const values = new SchemaValues(document.components.schemas, hints);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      weight: RARE.test(path) ? 1 : 6 + (operation.requestBody === undefined ? 0 : 6),
      arbitrary: requestOf(method.toUpperCase(), path, operation, values),
    })),
  );
  return fc.oneof(...operations);
}

function requestOf(
  method: string,
  path: string,
  operation: Operation,
  values: SchemaValues,
): fc.Arbitrary<FuzzRequest> {
  const parameters = operation.parameters ?? [];
  const at = (place: Parameter["in"]): Parameter[] => parameters.filter((parameter) => parameter.in === place);
  return fc.record({
    method: seldom(19, fc.constant(method), fc.constantFrom("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "POST")),
    path: pathOf(path, at("path")),
    query: queryOf(at("query"), values),
    headers: headersOf(at("header"), values),
    body: bodyOf(operation, values),
    caller: fc.oneof(
      { weight: 17, arbitrary: fc.constant("owner" as const) },
      { weight: 3, arbitrary: fc.constantFrom("reader" as const, "nobody" as const, "stranger" as const) },
    ),
    isChunked: seldom(9, fc.constant(false), fc.constant(true)),
  });
}

/** Picks `usual` this many times as often as `other`. */
function seldom<T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
}

function pathOf(path: string, parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const kind = path.split("/{", 1)[0] as string;
  const ids = parameters.map(({ name }) => {
    const known = fc.nat(1_000).map((n) => `{${n}:${kind}}`);
    const madeUp = fc.oneof(
      badTexts.map((text) => encodeURIComponent(text.toWellFormed().slice(0, 2_000))),
      fc.constantFrom("%", "%zz", "%00", "%ff%fe", "%2e%2e", "..", "a%2Fb", "job_01JGFJJZ00000000000000000", "a;b=c"),
    );
    return seldom(3, known, madeUp).map((id): [string, string] => [name, id]);
  });
  return fc.tuple(...ids).map((all) => all.reduce((made, [name, id]) => made.replace(`{${name}}`, () => id), path));
}

function queryOf(parameters: readonly Parameter[], values: SchemaValues): fc.Arbitrary<string> {
  const own = parameters.map(({ name, schema, required }) => {
    const texts = seldom(2, values.named(name, schema), badTexts).map((value) => `${name}=${encoded(value)}`);
    const present = seldom(
      19,
      texts,
      texts.map((text) => `${text}&${text}`),
    );
    return seldom(required ? 19 : 2, present, fc.constant(""));
  });
  const extra = fc.constantFrom("unknown=1", "=&&", "%zz", "limit[]=1", "a=%ff");
  return fc
    .tuple(...own, seldom(9, fc.constant(""), extra))
    .map((parts) => parts.filter((part) => part !== "").join("&"));
}

function encoded(value: unknown): string {
  return encodeURIComponent(String(value).toWellFormed().slice(0, 3_000));
}

function headersOf(parameters: readonly Parameter[], values: SchemaValues): fc.Arbitrary<Record<string, string>> {
  const own = parameters.map(({ name, schema }): [string, fc.Arbitrary<string>] => [
    name,
    seldom(4, values.named(name, schema).map(String), headerTexts).map((text) => text.replaceAll(/[^\x20-\x7e]/g, "")),
  ]);
  const some: Record<string, fc.Arbitrary<string>> = {
    ...Object.fromEntries(own),
    "content-type": seldom(9, fc.constant("application/json"), oddTypes),
    accept: fc.constantFrom("*/*", "application/json", "text/event-stream", "image/png", "q=;,"),
    "x-request-id": headerTexts,
    "x-forwarded-for": fc.constantFrom("1.2.3.4", "::1, x", "not an address"),
    "accept-encoding": fc.constantFrom("gzip", "identity;q=0"),
    origin: fc.constantFrom("null", "https://example.org"),
    range: fc.constantFrom("bytes=0-0", "bytes=9-1"),
  };
  return fc.record(some, { requiredKeys: [] }) as fc.Arbitrary<Record<string, string>>;
}

function bodyOf({ requestBody }: Operation, values: SchemaValues): fc.Arbitrary<string | Buffer | undefined> {
  const schema = requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return seldom(9, fc.constant(undefined), fc.constant("{}"));
  const good = values.of(schema);
  const bad = fc.tuple(good, changes).map(([value, all]) => all.reduce(changed, value));
  const huge = fc.tuple(good, hugeText).map(([value, text]) => changed(value, { at: 0, kind: "add", value: text }));
  return fc.oneof(
    { weight: 60, arbitrary: good.map(json) },
    { weight: 80, arbitrary: bad.map(json) },
    { weight: 10, arbitrary: badValues.map(json) },
    { weight: 6, arbitrary: good.map((value) => json(value).slice(0, -1)) },
    { weight: 4, arbitrary: fc.constantFrom("", "NaN", "{'a':1}", "\uFEFF{}", "[".repeat(100_000), '{"a":1,"a":2}') },
    { weight: 3, arbitrary: good.map((value) => Buffer.concat([Buffer.from(json(value)), Buffer.from([0xff, 0xc0])])) },
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: huge.map(json) },
  );
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

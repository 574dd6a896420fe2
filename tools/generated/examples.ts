import { readFileSync } from "node:fs";
import { join } from "node:path";
import { closed, type Schema } from "../../test/support/http/closed-schemas.ts";
import { currentDocument, rebased, schemaChecker, type Operation } from "../../test/support/http/openapi.ts";

export const EXAMPLES_FILE = join(import.meta.dirname, "..", "..", "coordinator", "http", "openapi", "examples.json");

/** A request and the JSON of its successful response, recorded by a test of a route. */
export interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}
export interface RecordedCall extends Example {
  readonly operationId?: string;
}
type Examples = Readonly<Record<string, Example>>;

export function committedExamples(): Examples {
  return JSON.parse(readFileSync(EXAMPLES_FILE, "utf8")) as Examples;
}

/** The schemas of the request and response in an operation's example. */
interface Need {
  readonly operationId: string;
  readonly request: Schema | undefined;
  readonly response: Schema | undefined;
}

/** Validates examples against the OpenAPI document of this source tree. */
export class ExampleCheck {
  readonly #ajv = schemaChecker(currentDocument().components.schemas);
  readonly #needs: readonly Need[];

  constructor() {
    const { paths, webhooks } = currentDocument();
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    this.#needs = [...operations, ...Object.values(webhooks).map(({ post }) => post)]
      .filter(({ operationId }) => operationId !== "getOpenApi")
      .map(needOf)
      .filter(({ request, response }) => request !== undefined || response !== undefined);
  }

  /** Returns operations with a missing or invalid example, and examples of unknown operations. */
  stale(examples: Examples): string[] {
    const wrong = this.#needs.filter((need) => !this.#fits(need, examples[need.operationId]));
    const known = new Set(this.#needs.map(({ operationId }) => operationId));
    return [...wrong.map(({ operationId }) => operationId), ...Object.keys(examples).filter((id) => !known.has(id))];
  }

  /** Returns the examples that are still valid, and for all other operations the best of these calls. */
  renewed(examples: Examples, calls: readonly RecordedCall[]): Examples {
    const all = this.#needs.flatMap((need): [string, Example][] => {
      const { operationId } = need;
      const old = examples[operationId];
      if (old !== undefined && this.#fits(need, old)) return [[operationId, old]];
      const fitting = calls
        .filter((call) => call.operationId === operationId)
        .map(({ request, response }): Example => {
          const asked = need.request === undefined ? {} : { request };
          return neutral({ ...asked, ...(need.response === undefined ? {} : { response }) });
        })
        .filter((example) => this.#fits(need, example));
      const [best] = fitting.toSorted(
        (one, other) => rankOf(other) - rankOf(one) || (textOf(one) < textOf(other) ? -1 : 1),
      );
      return best === undefined ? [] : [[operationId, best]];
    });
    return Object.fromEntries(all);
  }

  #fits({ request, response }: Need, example: Example | undefined): boolean {
    return this.#allows(request, example?.request) && this.#allows(response, example?.response);
  }

  #allows(schema: Schema | undefined, value: unknown): boolean {
    if (schema === undefined) return value === undefined;
    return value !== undefined && this.#ajv.validate(rebased(closed(schema)) as object, value);
  }
}

function needOf({ operationId, requestBody, responses }: Operation): Need {
  const success = Object.entries(responses).find(([status]) => Number(status) < 300 && status !== "202");
  return {
    operationId,
    request: requestBody?.content["application/json"]?.schema,
    response: success?.[1].content?.["application/json"]?.schema,
  };
}

/**
 * Ranks an example. Prefers a short example in which many members have a value, and whose request does not contain
 * nulls or texts of one letter.
 */
function rankOf(example: Example): number {
  const empty = JSON.stringify(example.request ?? "").match(/null|"\w?"/g)?.length ?? 0;
  return new Set(pathsOf(example, "")).size - 2 * empty - textOf(example).length / 60;
}

function pathsOf(value: unknown, path: string): string[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => pathsOf(each, `${path}[]`));
  if (typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([name, each]) => pathsOf(each, `${path}.${name}`));
}

const textOf = (example: Example): string => JSON.stringify(example);

function shortened(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, 2).map(shortened);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each)]));
}

/** Replaces values that differ in each run (ids, secrets, times and addresses), and shortens lists of the response to two entries. */
function neutral({ request, response }: Example): Example {
  const ids = new Map<string, string>();
  const text = textOf({ request, response: shortened(response) })
    .replaceAll(/\b([a-z]+)_[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, (id, kind: string) => {
      if (!ids.has(id)) ids.set(id, `${kind}_01JGFJJZ00000000000000000${String.fromCodePoint(65 + (ids.size % 26))}`);
      return ids.get(id) ?? id;
    })
    .replaceAll(/\b(ak|st|it|pr|ep|whsec)_[\w+/=-]{16,}/g, "$1_secret")
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "2026-01-01T12:00:00.000Z")
    .replaceAll(/20\d\d-\d\d-\d\d(?=")/g, "2026-01-01")
    .replaceAll(/(?<=[:[,])1[6-9]\d{8}(?=[,}\]])/g, "1767268800")
    .replaceAll(/(https?):\/\/(127\.0\.0\.1|localhost|\[::1\]):\d+/g, "$1://atoll.example");
  return JSON.parse(text) as Example;
}

import { createContext, Script } from "node:vm";
import { LRUCache } from "lru-cache";
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { addHashedKeywords } from "./hashed-keywords.ts";
import { boundedCostOf, compileSteps, maxCheckSteps } from "./schema-rules.ts";

type Schema = Readonly<Record<string, unknown>>;

const MAX_COMPILED = 128;
/** Time limit of a check: a client's pattern may backtrack endlessly. Most checks take less than 1 ms. */
const MAX_CHECK_MS = 250;
/** Fault of a value whose check takes longer. */
export const TOO_LONG = "it takes too long to check; simplify the patterns of the schema";
/** Maximum size of a schema whose checks may run on the event loop. */
const MAX_LOOP_BYTES = 8_192;
/** Maximum number of attempts of a check on a busy machine. */
const MAX_ATTEMPTS = 16;
const FORMATS = ["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"] as const;
/** Keywords without effect, and identifiers, which the schemas of all clients would share. */
const IGNORED = new Set(["$id", "id", "$schema", "$anchor", "$comment", "nullable"]);
/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples"]);
const OPTIONS: Options = {
  strict: false,
  logger: false,
  ownProperties: true,
  // Multiples of 0.1 cannot be exact doubles.
  multipleOfPrecision: 9,
};

const CHECK = new Script("check(value)");
const compiled = new LRUCache<string, ValidateFunction>({ max: MAX_COMPILED });
/** Compilers for the latest dialect, 2020-12, and for earlier dialects. */
const compilers: { latest?: Ajv; before?: Ajv } = {};

/** Returns why a schema is not valid JSON Schema; null if it is. */
export function schemaFault(schema: Schema): string | null {
  const [compiler, cleaned] = compilerFor(schema);
  if (compiler.validateSchema(cleaned) === true) return null;
  return messageOf(compiler.errors);
}

/** Returns the number of steps of {@link completionFault} for a text; Infinity if the schema does not bound them. */
export function completionSteps(schema: Schema, chars: number): number {
  const text = JSON.stringify(schema);
  // The cost of a larger schema is not computed, because compiling it takes too long anyway.
  const cost = text.length > MAX_LOOP_BYTES ? null : boundedCostOf(schema);
  if (cost === null) return Infinity;
  return (compiled.has(text) ? 0 : compileSteps(cost)) + maxCheckSteps(cost, chars);
}

/** Returns why a value violates its client's schema, or cannot be checked in time; null if it is valid. */
export function completionFault(schema: Schema, value: unknown): string | null {
  try {
    const check = compile(schema);
    return runBounded(check, value) ? null : messageOf(check.errors);
  } catch (error) {
    if (isTimeout(error)) return TOO_LONG;
    return `the schema cannot be checked: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Runs a check with a time limit. Retries it if a busy machine gave it little processor time. */
function runBounded(check: ValidateFunction, value: unknown): boolean {
  const context = createContext({ check, value });
  for (let attempt = 1; ; attempt += 1) {
    const { user } = process.threadCpuUsage();
    try {
      return CHECK.runInContext(context, { timeout: MAX_CHECK_MS }) as boolean;
    } catch (error) {
      const usedMs = (process.threadCpuUsage().user - user) / 1_000;
      if (!isTimeout(error) || usedMs > MAX_CHECK_MS / 2 || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function compile(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const [compiler, cleaned] = compilerFor(schema);
  try {
    const check = compiler.compile(cleaned);
    compiled.set(text, check);
    return check;
  } finally {
    // ajv would otherwise keep the schema permanently.
    compiler.removeSchema(cleaned);
  }
}

/** Returns the compiler for the schema's dialect, and the schema without ignored keywords. */
function compilerFor(schema: Schema): readonly [Ajv, Schema] {
  const cleaned = withoutAnnotations(schema) as Schema;
  // A list in `items` belongs to dialects before 2020-12.
  if (hasListOfItems(cleaned)) return [(compilers.before ??= withFormats(new Ajv(OPTIONS))), cleaned];
  return [(compilers.latest ??= withFormats(new Ajv2020(OPTIONS))), cleaned];
}

function withFormats(compiler: Ajv): Ajv {
  addFormats.default(compiler, { mode: "full", formats: [...FORMATS] });
  addHashedKeywords(compiler);
  return compiler;
}

function withoutAnnotations(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutAnnotations);
  if (typeof schema !== "object" || schema === null) return schema;
  // A keyword may also be the name of a property, whose value is then a schema.
  const kept = Object.entries(schema).filter(([keyword, value]) => !IGNORED.has(keyword) || isSchema(value));
  return Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, DATA_KEYWORDS.has(keyword) ? value : withoutAnnotations(value)]),
  );
}

function isSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function hasListOfItems(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return Object.entries(schema).some(
    ([keyword, value]) => (keyword === "items" && Array.isArray(value)) || hasListOfItems(value),
  );
}

function messageOf(errors: readonly ErrorObject[] | null | undefined): string {
  const error = errors?.at(-1);
  if (error === undefined) return "it is not valid";
  const path = error.instancePath === "" ? "the whole" : error.instancePath;
  return `${path} ${error.message ?? "is not valid"}`.slice(0, 500);
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

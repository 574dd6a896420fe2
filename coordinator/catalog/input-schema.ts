import { LRUCache } from "lru-cache";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { FieldError } from "../../shared/errors.ts";
import { chatInputJsonSchema } from "./default-schemas.ts";
import { addHashedKeywords } from "./hashed-keywords.ts";
import {
  ALLOWED_FORMATS,
  checkSteps,
  compileSteps,
  costOf,
  MAX_LOOP_STEPS,
  MAX_STEPS,
  schemaProblems,
  type SchemaCost,
} from "./schema-rules.ts";

type Schema = Readonly<Record<string, unknown>>;

interface CompiledSchema {
  /** The schema object given to the compilers, which identify it by reference. */
  readonly schema: Schema;
  readonly check: ValidateFunction;
  /** Check that lists all errors; null until it is first needed. */
  listAll: ValidateFunction | null;
}

const MAX_COMPILED = 256;
const MAX_ERRORS = 100;
/** Maximum size of an input for which all errors are listed: their memory grows with the input. */
const MAX_BYTES_FOR_ALL_ERRORS = 16_384;
/** Schemas that no stranger has written. Compiling them once is part of the start. */
const BUILT_IN: ReadonlySet<Schema> = new Set([chatInputJsonSchema]);
export const TOO_COSTLY: FieldError = { path: "", message: "has too many values to check against the Cargo's schema" };

/** The input schema cannot be used. Paths are relative to the schema. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly problems: readonly FieldError[];
  constructor(problems: readonly FieldError[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.problems = problems;
  }
}

/** Returns checks of inputs against JSON Schemas (2020-12). Compiled schemas are cached. */
export function schemaChecks(limit = MAX_COMPILED) {
  /** Compilers: `first` makes checks that stop at the first error, `all` checks that list all errors. */
  const first = newCompiler(false);
  const all = newCompiler(true);
  const compiledSchemas = new LRUCache<string, CompiledSchema>({ max: limit, dispose: ({ schema }) => forget(schema) });
  const texts = new WeakMap<Schema, string>();
  const costs = new WeakMap<Schema, SchemaCost>();

  function compile(schema: Schema): CompiledSchema {
    const text = textOf(schema);
    const known = compiledSchemas.get(text);
    if (known !== undefined) return known;
    const compiled = { schema, check: first.compile(schema), listAll: null };
    compiledSchemas.set(text, compiled);
    return compiled;
  }

  function textOf(schema: Schema): string {
    const known = texts.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    texts.set(schema, text);
    return text;
  }

  function knownCostOf(schema: Schema): SchemaCost {
    const known = costs.get(schema);
    if (known !== undefined) return known;
    const cost = costOf(schema);
    costs.set(schema, cost);
    return cost;
  }

  /** Compiles a schema without problems. @throws {SchemaError} */
  function assertCompiles(schema: Schema): void {
    try {
      compile(schema);
    } catch (error) {
      forget(schema);
      // The compiler also rejects schemas that the meta-schema allows, such as a keyword that requires another one.
      throw new SchemaError([{ path: "", message: error instanceof Error ? error.message : String(error) }]);
    }
  }

  /** Removes a schema from ajv, which otherwise keeps it permanently. */
  function forget(schema: Schema): void {
    first.removeSchema(schema);
    all.removeSchema(schema);
  }

  return {
    get size(): number {
      return compiledSchemas.size;
    },
    /**
     * Checks that a schema is valid and its checks have a bounded cost. Compiles it only if that is quick.
     * @throws {SchemaError} with every problem
     */
    assertUsable(schema: Schema): void {
      if (compiledSchemas.has(textOf(schema))) return;
      const problems = schemaProblems(schema);
      if (problems.length > 0) throw new SchemaError(problems);
      if (first.validateSchema(schema) !== true) throw new SchemaError(fieldErrors(first.errors));
      if (compileSteps(knownCostOf(schema)) <= MAX_LOOP_STEPS) assertCompiles(schema);
    },
    assertCompiles,
    /** Returns the number of steps of {@link errorsOf} and {@link fits}. Compiling counts unless the schema is known. */
    stepsOf(schema: Schema, value: unknown, bytes: number): number {
      const cost = knownCostOf(schema);
      const isKnown = BUILT_IN.has(schema) || compiledSchemas.has(textOf(schema));
      const compiling = isKnown ? 0 : compileSteps(cost);
      return compiling + checkSteps(cost, value, bytes);
    },
    /**
     * Returns the problems of `input`, which has `bytes` bytes as JSON. An input that would take too long to check is a
     * problem.
     * @param schema accepted by `assertUsable`. Its text is cached by reference, so it must not change
     */
    errorsOf(schema: Schema, input: unknown, bytes: number): FieldError[] {
      const compiled = compile(schema);
      if (checkSteps(knownCostOf(schema), input, bytes) > MAX_STEPS) return [TOO_COSTLY];
      if (compiled.check(input)) return [];
      if (bytes > MAX_BYTES_FOR_ALL_ERRORS) return fieldErrors(compiled.check.errors);
      compiled.listAll ??= all.compile(compiled.schema);
      compiled.listAll(input);
      return fieldErrors(compiled.listAll.errors);
    },
    /** Returns whether `output` is valid. An output that would take too long to check counts as valid. */
    fits(schema: Schema, output: unknown, bytes: number): boolean {
      return checkSteps(knownCostOf(schema), output, bytes) > MAX_STEPS || compile(schema).check(output);
    },
  };
}

export const inputSchemas = schemaChecks();

function newCompiler(allErrors: boolean): Ajv2020 {
  const compiler = new Ajv2020({
    allErrors,
    strict: true,
    // These rules of style are off: generated schemas often violate them.
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
    // Checks ignore inherited properties such as "toString".
    ownProperties: true,
    addUsedSchema: false,
    logger: false,
  });
  addFormats.default(compiler, { mode: "fast", formats: [...ALLOWED_FORMATS] });
  addHashedKeywords(compiler);
  return compiler;
}

function fieldErrors(errors: readonly ErrorObject[] | null | undefined): FieldError[] {
  return (errors ?? []).slice(0, MAX_ERRORS).map((error) => ({
    path: [...segmentsOf(error.instancePath), ...memberOf(error)].join("."),
    message: messageOf(error),
  }));
}

/** Splits a JSON Pointer into its segments. Source: RFC 6901. */
function segmentsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the member that an error concerns, for errors in which ajv names only the object. */
function memberOf({ params }: ErrorObject): string[] {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, unknown>;
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return typeof member === "string" ? [member] : [];
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  const { allowedValues, allowedValue } = params as Record<string, unknown>;
  if (keyword === "required") return "is required";
  if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") return "is not a field of this Cargo";
  if (keyword === "enum" && Array.isArray(allowedValues)) return `must be one of ${cut(JSON.stringify(allowedValues))}`;
  if (keyword === "const") return `must be ${cut(JSON.stringify(allowedValue))}`;
  return message ?? "is not valid";
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

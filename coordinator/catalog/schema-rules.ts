import type { FieldError } from "../../shared/errors.ts";
import { isJsonObject } from "../../shared/json-value.ts";

export const MAX_SCHEMA_BYTES = 32_768;
/** Maximum number of subschemas, counted with every `$ref` expanded, which bounds the work of a check. */
export const MAX_SUBSCHEMAS = 500;
const MAX_SCHEMA_DEPTH = 32;
const MAX_ENUM = 500;
const MAX_PATTERN = 200;
/** Maximum `maxItems` with `uniqueItems`. */
const MAX_UNIQUE_ITEMS = 1_000;

/** Allowed formats: those of ajv-formats whose regular expressions take linear time. */
export const ALLOWED_FORMATS = ["date", "time", "date-time", "email", "uuid", "uri", "ipv4", "ipv6"] as const;

/** The only accepted value of `$schema`, which is also the default. */
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

const words = (text: string): string[] => text.trim().split(/\s+/);

const ONE_SCHEMA = words(`
  not if then else items contains additionalProperties propertyNames unevaluatedItems
  unevaluatedProperties
`);
const SCHEMA_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SCHEMA_MAPS = ["properties", "dependentSchemas"];
/** Keywords whose subschemas apply to the same value as the schema that contains them. */
const SAME_VALUE = ["$ref", "not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas"];

/**
 * Other accepted keywords of 2020-12. Identifiers are excluded, because all schemas of the process would share them.
 */
const OTHER_KEYWORDS = words(`
  $defs $ref $comment title description default examples deprecated readOnly writeOnly type enum const
  format pattern minLength maxLength contentEncoding contentMediaType multipleOf minimum maximum
  exclusiveMinimum exclusiveMaximum minItems maxItems uniqueItems minContains maxContains required
  minProperties maxProperties dependentRequired
`);
const KEYWORDS = new Set([...ONE_SCHEMA, ...SCHEMA_LISTS, ...SCHEMA_MAPS, ...OTHER_KEYWORDS]);

/** Maximum number of steps of a check, which take a thread at most a third of a second. */
export const MAX_STEPS = 20_000_000;
/** Maximum number of steps of checks that run on the event loop: about 25 ms. Other checks run in a thread. */
export const MAX_LOOP_STEPS = 1_500_000;
/** Steps of compiling a subschema: 0.6 ms (2 cores, 2026-11). */
const COMPILE_STEPS = 37_500;
const TEXT_BYTES = 8;
/** Number of comparisons of names in a step. */
const COMPARISONS = 2;

type Json = Readonly<Record<string, unknown>>;

/**
 * Cost of a check in steps of about 16 ns: for each value, and for each 8 bytes of text. No value is checked against
 * more subschemas than these bounds count, because those of different properties apply to different values.
 */
export interface SchemaCost {
  readonly perValue: number;
  readonly perText: number;
  /** Number of subschemas, each counted where a `$ref` names it. */
  readonly subschemas: number;
}

/**
 * Returns the problems of an input schema that ajv does not find: slow checks and external references. README.md,
 * "Input schemas", gives the reasons. Paths are relative to the schema.
 */
export function schemaProblems(schema: Json): FieldError[] {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MAX_SCHEMA_BYTES) {
    return [{ path: "", message: `is ${bytes} bytes as JSON, but at most ${MAX_SCHEMA_BYTES} are allowed` }];
  }
  return walkSchema(schema).problems;
}

/** Returns the cost of a schema without problems. */
export function costOf(schema: Json): SchemaCost {
  return walkSchema(schema).cost;
}

/** Returns the cost of a schema that a client wrote; null if it breaks the rules of input schemas. */
export function boundedCostOf(schema: Json): SchemaCost | null {
  const { problems, cost } = walkSchema(schema);
  return problems.length === 0 ? cost : null;
}

type Cost = Omit<SchemaCost, "subschemas">;
const NO_COST: Cost = { perValue: 0, perText: 0 };

const add = (a: Cost, b: Cost): Cost => ({ perValue: a.perValue + b.perValue, perText: a.perText + b.perText });
const larger = (a: Cost, b: Cost): Cost => ({
  perValue: Math.max(a.perValue, b.perValue),
  perText: Math.max(a.perText, b.perText),
});

/** Returns the cost of a subschema without that of its own subschemas. */
function ownCost(schema: Json): Cost {
  const { enum: values, required, uniqueItems, properties, dependentRequired, dependentSchemas } = schema;
  const names =
    (Array.isArray(required) ? required.length : 0) +
    [properties, dependentRequired, dependentSchemas].reduce<number>((sum, map) => sum + entriesOf(map).length, 0);
  const readsText = ["pattern", "format", "minLength", "maxLength", "enum", "const"].some((keyword) =>
    Object.hasOwn(schema, keyword),
  );
  const isHashed = uniqueItems === true || Array.isArray(values) || Object.hasOwn(schema, "const");
  return { perValue: 1 + names / COMPARISONS + (isHashed ? 1 : 0), perText: readsText || isHashed ? 1 : 0 };
}

/**
 * Returns the cost of a subschema. Subschemas that apply to the same value add up. Those of the members of a value apply
 * to different values, so that the most expensive one counts, and adds to the text, because a hash reads whole values.
 */
function costWithParts(own: Cost, costs: ReadonlyMap<string, readonly Cost[]>): Cost {
  const most = (keyword: string): Cost => (costs.get(keyword) ?? []).reduce(larger, NO_COST);
  const members = add(larger(most("properties"), most("additionalProperties")), most("unevaluatedProperties"));
  const items = add(add(larger(most("prefixItems"), most("items")), most("contains")), most("unevaluatedItems"));
  const part = larger(larger(members, items), most("propertyNames"));
  const same = SAME_VALUE.flatMap((keyword) => costs.get(keyword) ?? []).reduce(add, NO_COST);
  return add(same, { perValue: Math.max(own.perValue, part.perValue), perText: own.perText + part.perText });
}

/** Returns the number of steps of a check. `bytes`: size of the value as JSON. */
export function checkSteps({ perValue, perText, subschemas }: SchemaCost, value: unknown, bytes: number): number {
  const bound = maxCheckSteps({ perValue, perText, subschemas }, bytes);
  return bound <= MAX_LOOP_STEPS ? bound : (perText * bytes) / TEXT_BYTES + perValue * countValues(value);
}

/** Returns the maximum number of steps of a check of a value with this size, without counting its parts. */
export function maxCheckSteps({ perValue, perText }: SchemaCost, bytes: number): number {
  // A value takes at least two bytes with its comma.
  return (perText * bytes) / TEXT_BYTES + perValue * (1 + bytes / 2);
}

/** Returns the number of steps of compiling a schema. */
export function compileSteps({ subschemas }: SchemaCost): number {
  return subschemas * COMPILE_STEPS;
}

/** Returns the number of values in `value`, including `value` and all member names. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  // A body may have 500,000 items, and an index is faster than a list of the members.
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) count += countValues(value[index]);
  else for (const member of Object.values(value)) count += 1 + countValues(member);
  return count;
}

/** Walks a schema in the order of validation. Returns its problems, and the cost of the visited parts. */
function walkSchema(root: Json): { readonly problems: FieldError[]; readonly cost: SchemaCost } {
  const problems = new Map<string, string>();
  /** References on the current path, used to detect a cycle. */
  const following = new Set<string>();
  const definitions = isJsonObject(root["$defs"]) ? root["$defs"] : {};
  let subschemas = 0;

  function visit(schema: unknown, path: readonly string[], depth: number): Cost {
    if (typeof schema === "boolean" || subschemas > MAX_SUBSCHEMAS) return NO_COST;
    if (!isJsonObject(schema)) return report(path, "must be a schema: an object, true or false");
    subschemas += 1;
    if (subschemas > MAX_SUBSCHEMAS) {
      return report([], `has more than ${MAX_SUBSCHEMAS} subschemas, each counted where a $ref names it`);
    }
    if (depth > MAX_SCHEMA_DEPTH) return report(path, `is nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    checkKeywords(schema, path);
    const costs = new Map<string, readonly Cost[]>([["$ref", [follow(schema["$ref"], path, depth)]]]);
    for (const keyword of ONE_SCHEMA) {
      if (Object.hasOwn(schema, keyword)) costs.set(keyword, [visit(schema[keyword], [...path, keyword], depth + 1)]);
    }
    for (const keyword of SCHEMA_LISTS) {
      const list: unknown = schema[keyword];
      if (!Array.isArray(list)) continue;
      costs.set(
        keyword,
        list.map((each, i) => visit(each, [...path, keyword, String(i)], depth + 1)),
      );
    }
    for (const keyword of SCHEMA_MAPS) {
      costs.set(
        keyword,
        entriesOf(schema[keyword]).map(([name, each]) => visit(each, [...path, keyword, name], depth + 1)),
      );
    }
    return costWithParts(ownCost(schema), costs);
  }

  function follow(reference: unknown, path: readonly string[], depth: number): Cost {
    if (reference === undefined) return NO_COST;
    const at = [...path, "$ref"];
    const name = typeof reference === "string" ? /^#\/\$defs\/([A-Za-z0-9_.-]+)$/.exec(reference)?.[1] : undefined;
    if (name === undefined) return report(at, "must name a definition of this schema: #/$defs/name");
    if (following.has(name)) return report(at, "must not refer back to itself");
    if (!Object.hasOwn(definitions, name)) return report(at, `names no definition: $defs has no "${name}"`);
    following.add(name);
    const cost = visit(definitions[name], ["$defs", name], depth + 1);
    following.delete(name);
    return cost;
  }

  function checkKeywords(schema: Json, path: readonly string[]): void {
    for (const keyword of Object.keys(schema)) {
      const isDialect = keyword === "$schema" && path.length === 0 && schema[keyword] === DIALECT;
      if (!KEYWORDS.has(keyword) && !isDialect) report([...path, keyword], "is not an accepted keyword");
    }
    if (path.length > 0 && Object.hasOwn(schema, "$defs")) report([...path, "$defs"], "must be at the top level");
    const { pattern, format, enum: values, uniqueItems, maxItems } = schema;
    const problem = pattern === undefined ? null : patternProblem(pattern);
    if (problem !== null) report([...path, "pattern"], problem);
    if (format !== undefined && !ALLOWED_FORMATS.some((allowed) => allowed === format)) {
      report([...path, "format"], `must be one of ${ALLOWED_FORMATS.join(", ")}`);
    }
    if (Array.isArray(values) && values.length > MAX_ENUM) {
      report([...path, "enum"], `has more than ${MAX_ENUM} values`);
    }
    const isBounded = typeof maxItems === "number" && maxItems <= MAX_UNIQUE_ITEMS;
    if (uniqueItems === true && !isBounded) {
      report([...path, "uniqueItems"], `requires maxItems of at most ${MAX_UNIQUE_ITEMS}`);
    }
  }

  function report(path: readonly string[], message: string): Cost {
    const dotted = path.join(".");
    if (!problems.has(dotted)) problems.set(dotted, message);
    return NO_COST;
  }

  const cost = visit(root, [], 0);
  // The compiler also compiles definitions that no reference uses.
  for (const [name, definition] of Object.entries(definitions)) visit(definition, ["$defs", name], 1);
  return {
    problems: [...problems].map(([path, message]) => ({ path, message })),
    cost: { ...cost, subschemas },
  };
}

/** Matches one part of a pattern: a character, escape or class, with an optional quantifier. */
const PATTERN_PART =
  /(?:\\[dDwWsSnrt.\\/^$*+?()[\]{}|-]|\[(?:\\[dDwWsSnrt\\^\]-]|[^\\\]])+\]|[^\\[\](){}|*+?^$])(\*|\+|\?|\{\d{1,4}(?:,\d{0,4})?\})?/y;

/**
 * Returns why a pattern may take more than linear time; null if it cannot. (Two variable quantifiers are quadratic.)
 */
function patternProblem(pattern: unknown): string | null {
  if (typeof pattern !== "string") return "must be a string";
  if (pattern.length > MAX_PATTERN) return `has more than ${MAX_PATTERN} characters`;
  if (!pattern.startsWith("^")) return "must begin with ^";
  const end = pattern.endsWith("$") && !pattern.endsWith("\\$") ? pattern.length - 1 : pattern.length;
  let variable = 0;
  PATTERN_PART.lastIndex = 1;
  while (PATTERN_PART.lastIndex < end) {
    const quantifier = PATTERN_PART.exec(pattern);
    if (quantifier === null)
      return "may have only characters, classes and quantifiers: no groups, alternatives or look-around";
    if (quantifier[1] !== undefined && !/^\{\d+\}$/.test(quantifier[1])) variable += 1;
  }
  return variable > 1 ? "may have only one quantifier of variable length (*, +, ?, {n,m})" : null;
}

function entriesOf(map: unknown): [string, unknown][] {
  return isJsonObject(map) ? Object.entries(map) : [];
}

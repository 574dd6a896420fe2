type Schema = Readonly<Record<string, unknown>>;
type Fail = (why: string) => never;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Keywords without effect on which values are valid. */
const ANNOTATIONS = words(`
  $schema $id id $comment $anchor title description default examples example deprecated readOnly writeOnly nullable
  contentEncoding contentMediaType contentSchema discriminator
`);
const SUPPORTED_KEYWORDS = words(`
  type enum const anyOf oneOf allOf $ref $defs definitions format pattern minLength maxLength minimum maximum exclusiveMinimum
  exclusiveMaximum multipleOf items prefixItems additionalItems minItems maxItems uniqueItems properties required
  additionalProperties propertyNames minProperties maxProperties
`);
/** Maximum number of repeats: llama.cpp rejects 2,000 and more. Larger upper bounds are validated afterwards. */
const MAX_REPEATS = 1_999;

export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword) || keyword.startsWith("x-");
}

/** Returns the problem of the schema's keywords; null if all are known. */
export function checkKeywords(raw: Schema): string | null {
  const unknown = Object.keys(raw).find((keyword) => !isAnnotation(keyword) && !SUPPORTED_KEYWORDS.has(keyword));
  return unknown === undefined ? null : `keyword "${unknown}" is not supported`;
}

/** Returns whether agents of all versions enforce the schema, because it uses only keywords of the first version. */
export function isFirstGrammar(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isFirstGrammar);
  if (typeof schema !== "object" || schema === null) return true;
  return Object.entries(schema).every(([keyword, value]) => {
    if (keyword === "format") return FIRST_FORMATS.has(String(value));
    if (keyword === "$ref" && typeof value === "string") return FIRST_REFERENCE.test(value);
    if (keyword === "allOf" && Array.isArray(value) && value.length > 1) return false;
    return !KEYWORDS_OF_LATER_VERSIONS.has(keyword) && isFirstGrammar(value);
  });
}

const FIRST_REFERENCE = /^#(?:$|\/(?:\$defs|definitions)\/[^/~%]+$)/;
const FIRST_FORMATS = words("date-time time date");
/**
 * Keywords of later versions. A property that has such a name is taken for the keyword, which only excludes agents of
 * earlier versions.
 */
const KEYWORDS_OF_LATER_VERSIONS = words(`
  pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf uniqueItems propertyNames additionalItems discriminator id
`);

/** Returns the types that a schema names or that its keywords imply; empty for any value. */
export function typesOf(raw: Schema): readonly string[] {
  const type = raw["type"];
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === "string") return [type];
  if (raw["properties"] !== undefined || raw["additionalProperties"] !== undefined || raw["required"] !== undefined)
    return ["object"];
  if (raw["items"] !== undefined || raw["prefixItems"] !== undefined) return ["array"];
  return [];
}

/** Returns the allowed property names if a schema of names lists them. Its other keywords are validated afterwards. */
export function listedNames({ enum: names, const: only }: Schema): { propertyNames?: { enum: string[] } } {
  const listed = (Array.isArray(names) ? (names as unknown[]) : [only]).filter((name) => typeof name === "string");
  return listed.length === 0 ? {} : { propertyNames: { enum: listed } };
}

export function stringKeywords(raw: Schema, fail: Fail): Record<string, unknown> {
  const { format, pattern } = raw;
  if (pattern !== undefined && !isPattern(pattern))
    fail(`pattern ${JSON.stringify(pattern)} is not a regular expression`);
  return {
    ...countBounds(raw, ["minLength", "maxLength"], fail),
    ...(typeof format === "string" ? { format } : {}),
    ...(pattern === undefined ? {} : { pattern }),
  };
}

export function numberKeywords(raw: Schema, fail: Fail): Record<string, number> {
  const bounds: Record<string, number> = {};
  for (const name of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
    const value = raw[name];
    if (value === undefined) continue;
    if (typeof value !== "number") return fail(`${name} is not a number`);
    bounds[name] = value;
  }
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = bounds;
  if ((bounds["multipleOf"] ?? 1) <= 0) fail("multipleOf is not above 0");
  if (Math.max(minimum, exclusiveMinimum) > Math.min(maximum, exclusiveMaximum)) fail("no number is within the bounds");
  return bounds;
}

/** @param limit maximum number of items; null for no limit */
export function arrayBounds(raw: Schema, limit: number | null, fail: Fail): { minItems?: number; maxItems?: number } {
  const bounds: { minItems?: number; maxItems?: number } = countBounds(raw, ["minItems", "maxItems"], fail);
  const most = Math.min(bounds.maxItems ?? Infinity, limit ?? Infinity);
  if ((bounds.minItems ?? 0) > most) fail("minItems is more than there may be");
  return { ...bounds, ...(most === Infinity ? {} : { maxItems: most }) };
}

function countBounds(raw: Schema, [min, max]: readonly [string, string], fail: Fail): Record<string, number> {
  const given: Record<string, number> = {};
  for (const name of [min, max]) {
    const value = raw[name];
    if (value === undefined) continue;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
      return fail(`${name} is not a whole number`);
    if (name === min && value > MAX_REPEATS) return fail(`${name} is not an integer in 0..${MAX_REPEATS}`);
    if (value <= MAX_REPEATS) given[name] = value;
  }
  if ((given[min] ?? 0) > (given[max] ?? Infinity)) return fail(`${min} is more than ${max}`);
  return given;
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== "string") return false;
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Returns whether a schema constrains its values other than by `keyword`. */
export function hasOthers(raw: Schema, keyword?: string): boolean {
  return Object.keys(raw).some(
    (name) => name !== keyword && name !== "$defs" && name !== "definitions" && !isAnnotation(name),
  );
}

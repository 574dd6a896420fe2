import { isJsonObject } from "../json-value.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Two schemas cannot be merged into one that a grammar can keep. */
export class UnmergedSchema extends Error {}

/** Both lists apply, as one. */
const LISTS = new Set(["required"]);
/** The larger one, and the smaller one, is the narrower. */
const LARGER = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const SMALLER = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);

/**
 * One schema for what two allow together, as grammars need it. Annotations of the second win.
 * @throws {UnmergedSchema} naming the keyword that is in both and has no merger.
 */
export function mergeSchemas(one: Schema, other: Schema, isAnnotation: (keyword: string) => boolean): Schema {
  const merged: Record<string, unknown> = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    const before = merged[keyword];
    const isNew = before === undefined || isAnnotation(keyword) || JSON.stringify(before) === JSON.stringify(value);
    merged[keyword] = isNew ? value : mergeKeyword(keyword, before, value);
  }
  return merged;
}

function mergeKeyword(keyword: string, before: unknown, value: unknown): unknown {
  if (keyword === "properties" && isJsonObject(before) && isJsonObject(value)) {
    const both = Object.keys(value).filter((name) => Object.hasOwn(before, name));
    return {
      ...before,
      ...value,
      ...Object.fromEntries(both.map((name) => [name, { allOf: [before[name], value[name]] }])),
    };
  }
  if (LISTS.has(keyword)) return [...new Set([...listOf(before), ...listOf(value)])];
  if (LARGER.has(keyword)) return Math.max(Number(before), Number(value));
  if (SMALLER.has(keyword)) return Math.min(Number(before), Number(value));
  if (keyword === "type") return commonTypes(listOf(before).map(String), listOf(value).map(String));
  if (keyword === "enum") return common(listOf(before), listOf(value), keyword);
  // Only listed properties are written, so that both are kept if one of them is.
  if (keyword === "additionalProperties")
    return before === false || value === false ? false : { allOf: [before, value] };
  if (keyword === "items") return { allOf: [before, value] };
  if (keyword === "uniqueItems") return true;
  throw new UnmergedSchema(`keyword "${keyword}" cannot be merged with another "${keyword}" beside it`);
}

function commonTypes(some: readonly string[], others: readonly string[]): unknown {
  const types = some.flatMap((type) => {
    if (others.includes(type)) return [type];
    if (type === "number" && others.includes("integer")) return ["integer"];
    return type === "integer" && others.includes("number") ? ["integer"] : [];
  });
  if (types.length === 0) throw new UnmergedSchema(`no value is both ${some.join("|")} and ${others.join("|")}`);
  return types;
}

function common(some: readonly unknown[], others: readonly unknown[], keyword: string): unknown[] {
  const known = new Set(others.map((each) => JSON.stringify(each)));
  const both = some.filter((each) => known.has(JSON.stringify(each)));
  if (both.length === 0) throw new UnmergedSchema(`the lists of "${keyword}" have no value in common`);
  return both;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

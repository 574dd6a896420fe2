import { z } from "@hono/zod-openapi";
import type { Parameter } from "../../coordinator/http/openai/parameters.ts";

/** A row of a table of parameters. */
export interface ParameterRow {
  readonly name: string;
  readonly rule: "honoured" | "ignored" | "refused";
  readonly note: string;
  readonly neutral: readonly unknown[];
}

interface JsonSchema {
  readonly anyOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
}

/** Returns the members of a request, each followed by its own members. A list has a row if some entries are ignored. */
export function parameterRows(parameter: Parameter): ParameterRow[] {
  const { members, entries } = parameter;
  const inside = entries === null ? [] : [...entryRows(entries), ...parameterRows(entries)];
  return [...inside, ...[...members.values()].flatMap((member) => [rowOf(member), ...parameterRows(member)])];
}

function rowOf({ name, unhonoured, schemas }: Parameter): ParameterRow {
  if (unhonoured !== null) return { name, ...unhonoured };
  return { name, rule: "honoured", note: noteOf(schemas), neutral: [] };
}

function entryRows({ name, ignoredEntry }: Parameter): ParameterRow[] {
  if (ignoredEntry === null) return [];
  return [{ name, rule: "honoured", note: `Some entries are ignored: ${ignoredEntry.note}`, neutral: [] }];
}

/** Returns the limits and the first description of a parameter's schemas. */
function noteOf(schemas: readonly z.ZodType[]): string {
  const described = schemas.map(descriptionOf).find((text) => text !== undefined);
  const limits = limitsOf(
    schemas.map((schema) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema),
  );
  return [limits, described ?? ""].filter((part) => part !== "").join(". ");
}

/** Returns the outermost description. */
function descriptionOf(schema: z.core.$ZodType): string | undefined {
  const { description } = z.globalRegistry.get(schema) ?? {};
  if (description !== undefined) return description;
  if (schema instanceof z.ZodPipe) return descriptionOf(schema.def.out) ?? descriptionOf(schema.def.in);
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? descriptionOf(schema.def.innerType)
    : undefined;
}

function limitsOf(schemas: readonly JsonSchema[]): string {
  const all = schemas.flatMap(optionsOf);
  const values = all.flatMap((schema) => schema.enum ?? ("const" in schema ? [schema.const] : []));
  const ranges = all.flatMap((schema) => rangesOf(schema));
  return [...new Set([values.map((value) => `\`${String(value)}\``).join(", "), ...ranges])]
    .filter((part) => part !== "")
    .join(", or ");
}

function optionsOf(schema: JsonSchema): JsonSchema[] {
  return (schema.anyOf ?? []).length === 0 ? [schema] : (schema.anyOf ?? []).flatMap(optionsOf);
}

/** Returns the limits of numbers, strings and lists. */
function rangesOf(schema: JsonSchema): string[] {
  const { minimum, exclusiveMinimum, maximum, minItems = 0, maxItems, maxLength } = schema;
  const least = exclusiveMinimum === undefined ? String(minimum) : `above ${exclusiveMinimum}`;
  const hasLeast = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER;
  if (maximum !== undefined && maximum < 2 ** 31 - 1 && (hasLeast || exclusiveMinimum !== undefined)) {
    return [`${least} to ${maximum}`];
  }
  if (schema.type === "integer" && maximum === 4_294_967_295) return [`${least} to ${maximum}`];
  if (maxItems !== undefined)
    return [minItems > 0 ? `${minItems} to ${maxItems} entries` : `up to ${maxItems} entries`];
  return maxLength === undefined ? [] : [`up to ${maxLength} characters`];
}

/** Returns the Markdown table of a request's parameters. */
export function parameterTable(parameter: Parameter): string {
  const rows = parameterRows(parameter).map(({ name, rule, note, neutral }) => {
    const accepted = neutral.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
    const notes = [sentence(note), accepted === "" ? "" : `Accepted: ${accepted}`].filter((part) => part !== "");
    return `| \`${name}\` | ${rule} | ${notes.join(". ")} |`;
  });
  return ["| Parameter | Rule | Note |", "|---|---|---|", ...rows].join("\n");
}

function sentence(text: string): string {
  return text.replace(/^[a-z]/, (letter) => letter.toUpperCase()).replaceAll("|", "\\|");
}

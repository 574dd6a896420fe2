import {
  fileIdOf,
  MAX_JOB_FILE_BYTES,
  MAX_PLACE_DEPTH,
  MAX_PLACE_KEY_CHARS,
  withValueAt,
  type FileForm,
} from "../../shared/job-files.ts";
import type { JobInput } from "../store/jobs/job-store.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A file that stands in an input where the Cargo's schema takes a string. */
export interface FileReference {
  readonly path: readonly string[];
  readonly fileId: string;
  readonly form: FileForm;
  /** Least and most bytes of the file. */
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly minLength: number;
}

/** A `maxLength` from here on says "what fits into a request", and does not bound a file. */
const MAX_INLINE_CHARS = 200_000;
/** What may be said of a string that a file stands for. Others (`enum`, `pattern`, `format`) could not be checked without its content. */
const OF_ANY_STRING: ReadonlySet<string> = new Set([
  ...["type", "minLength", "maxLength", "contentEncoding", "contentMediaType"],
  ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"],
]);

/**
 * The places of `input` where `{"file_id": …}` stands for a string: base64 where the schema says `contentEncoding: "base64"`, else text.
 * Where the schema takes an object, or a string of some form only, it stands for itself. docs/use/files-and-batches.md has the rule.
 * @param json of the input: most say at once that they name no file.
 */
export function fileReferencesOf(schema: Schema, input: JobInput, json: string): FileReference[] {
  const places: FileReference[] = [];
  if (json.includes('"file_id":')) visit(input, []);
  return places;

  function visit(value: unknown, path: readonly string[]): void {
    if (typeof value !== "object" || value === null || path.length > MAX_PLACE_DEPTH) return;
    const fileId = path.length === 0 ? null : fileIdOf(value);
    if (fileId !== null) {
      const taken = stringAt(schema, schema, path);
      if (taken !== null) places.push({ path, fileId, ...taken });
      return;
    }
    for (const [key, each] of Object.entries(value))
      if (typeof each === "object" && key.length <= MAX_PLACE_KEY_CHARS) visit(each, [...path, key]);
  }
}

/** The input as the Cargo's schema can check it: with a string in each place. */
export function withStandIns(input: JobInput, places: readonly FileReference[]): JobInput {
  return places.reduce((filled, { path, minLength }) => withValueAt(filled, path, "A".repeat(minLength)), input);
}

/** What the schema says of a string at `path`; null where it takes none that a file could stand for. */
function stringAt(
  root: Schema,
  schema: unknown,
  path: readonly string[],
): Omit<FileReference, "path" | "fileId"> | null {
  for (const each of alternativesOf(root, schema)) {
    const [key, ...rest] = path;
    const found = key === undefined ? stringOf(each) : stringAt(root, memberOf(each, key), rest);
    if (found !== null) return found;
  }
  return null;
}

function stringOf(schema: Schema): Omit<FileReference, "path" | "fileId"> | null {
  const { type, contentEncoding, minLength = 0, maxLength = Infinity } = schema;
  if (type !== "string" || !Object.keys(schema).every((keyword) => OF_ANY_STRING.has(keyword))) return null;
  if (typeof minLength !== "number" || typeof maxLength !== "number" || minLength > MAX_INLINE_CHARS) return null;
  const isBase64 = contentEncoding === "base64";
  if (!isBase64 && contentEncoding !== undefined) return null;
  // Of a text each character has a byte or more.
  const bound = maxLength >= MAX_INLINE_CHARS ? Infinity : isBase64 ? Math.floor(maxLength / 4) * 3 : maxLength;
  const minBytes = isBase64 && minLength > 0 ? (Math.ceil(minLength / 4) - 1) * 3 + 1 : minLength;
  return { form: isBase64 ? "base64" : "text", minBytes, maxBytes: Math.min(bound, MAX_JOB_FILE_BYTES), minLength };
}

/** The schema itself, or the ones that it refers to or chooses from. Schemas that are accepted have no cycles (schema-rules.ts). */
function alternativesOf(root: Schema, schema: unknown): Schema[] {
  if (!isObject(schema)) return [];
  const { $ref: reference, anyOf, oneOf } = schema;
  if (typeof reference === "string") {
    const definitions = root["$defs"];
    const name = reference.slice("#/$defs/".length);
    return isObject(definitions) && Object.hasOwn(definitions, name) ? alternativesOf(root, definitions[name]) : [];
  }
  const choices = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [schema, ...choices.flatMap((each) => alternativesOf(root, each))];
}

function memberOf({ properties, additionalProperties, prefixItems, items }: Schema, key: string): unknown {
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  if (!/^\d+$/.test(key)) return additionalProperties;
  const first = Array.isArray(prefixItems) ? (prefixItems as unknown[])[Number(key)] : undefined;
  return first ?? items ?? additionalProperties;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

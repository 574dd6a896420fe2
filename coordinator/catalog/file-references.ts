import {
  fileIdOf,
  MAX_JOB_FILE_BYTES,
  MAX_PATH_DEPTH,
  MAX_PATH_KEY_CHARS,
  withValueAt,
  type FileForm,
} from "../../shared/job-files.ts";
import { isJsonObject } from "../../shared/json-value.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { CheckedInput } from "./input-text.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A reference to a file in an input, where the Cargo's schema expects a string. */
export interface FileReference {
  readonly path: readonly string[];
  readonly fileId: string;
  readonly form: FileForm;
  /** Minimum and maximum size of the file in bytes, derived from the schema. */
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Minimum length of the string in characters. */
  readonly minLength: number;
}

/** Values of `maxLength` from which it is meant to limit requests, and does not limit files. */
const MAX_INLINE_CHARS = 200_000;
/** Keywords that a string may have for a file to replace it. A check of other keywords would need the content. */
const UNRESTRICTIVE_KEYWORDS: ReadonlySet<string> = new Set([
  ...["type", "minLength", "maxLength", "contentEncoding", "contentMediaType"],
  ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"],
]);

/**
 * Returns the `{"file_id": …}` objects of the input that replace a string of the schema, by the rule in
 * docs/use/files-and-batches.md. Its JSON is searched first, because most inputs have no file.
 */
export function fileReferencesOf(schema: Schema, checked: CheckedInput): FileReference[] {
  const references: FileReference[] = [];
  if (checked.inputJson.includes('"file_id":')) visit(checked.input, []);
  return references;

  function visit(value: unknown, path: readonly string[]): void {
    if (typeof value !== "object" || value === null || path.length > MAX_PATH_DEPTH) return;
    const fileId = path.length === 0 ? null : fileIdOf(value);
    if (fileId !== null) {
      const expected = stringAt(schema, schema, path);
      if (expected !== null) references.push({ path, fileId, ...expected });
      return;
    }
    for (const [key, each] of Object.entries(value))
      if (typeof each === "object" && key.length <= MAX_PATH_KEY_CHARS) visit(each, [...path, key]);
  }
}

/** Replaces each file reference by a placeholder, so that the input can be checked against the Cargo's schema. */
export function withPlaceholders(input: JobInput, references: readonly FileReference[]): JobInput {
  return references.reduce((filled, { path, minLength }) => withValueAt(filled, path, "A".repeat(minLength)), input);
}

/** Returns the constraints of the string at `path`; null if the schema has no string there that a file can replace. */
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
  if (type !== "string" || !Object.keys(schema).every((keyword) => UNRESTRICTIVE_KEYWORDS.has(keyword))) return null;
  if (typeof minLength !== "number" || typeof maxLength !== "number" || minLength > MAX_INLINE_CHARS) return null;
  const isBase64 = contentEncoding === "base64";
  if (!isBase64 && contentEncoding !== undefined) return null;
  // Each character of a text takes at least one byte.
  const bound = maxLength >= MAX_INLINE_CHARS ? Infinity : isBase64 ? Math.floor(maxLength / 4) * 3 : maxLength;
  const minBytes = isBase64 && minLength > 0 ? (Math.ceil(minLength / 4) - 1) * 3 + 1 : minLength;
  return { form: isBase64 ? "base64" : "text", minBytes, maxBytes: Math.min(bound, MAX_JOB_FILE_BYTES), minLength };
}

/** Returns the schema, those that it references, and its alternatives. Accepted schemas have no cycles. */
function alternativesOf(root: Schema, schema: unknown): Schema[] {
  if (!isJsonObject(schema)) return [];
  const { $ref: reference, anyOf, oneOf } = schema;
  if (typeof reference === "string") {
    const definitions = root["$defs"];
    const name = reference.slice("#/$defs/".length);
    return isJsonObject(definitions) && Object.hasOwn(definitions, name) ? alternativesOf(root, definitions[name]) : [];
  }
  const choices = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [schema, ...choices.flatMap((each) => alternativesOf(root, each))];
}

function memberOf({ properties, additionalProperties, prefixItems, items }: Schema, key: string): unknown {
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  if (!/^\d+$/.test(key)) return additionalProperties;
  const first = Array.isArray(prefixItems) ? (prefixItems as unknown[])[Number(key)] : undefined;
  return first ?? items ?? additionalProperties;
}

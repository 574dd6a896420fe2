import { z } from "zod";
import { MIB } from "./format-bytes.ts";
import type { JsonValue } from "./json-value.ts";

/** Agent feature in `features` of `hello`: the agent downloads files that a job's input names. */
export const FILES_FEATURE = "files";
/** Limit on the total size of the files of a job. In base64 they fit into one message to a host process (64 MiB). */
export const MAX_JOB_FILE_BYTES = 32 * MIB;
export const MAX_FILES_OF_JOB = 16;
/** Maximum depth of the path at which an input names a file. */
export const MAX_PATH_DEPTH = 32;
export const MAX_PATH_KEY_CHARS = 200;
/** Start of the path at which Islands download files. A file id and a signed query follow. */
export const ISLAND_FILES_PATH = "/api/v1/island/files/";

/** Forms of a file in an input. `base64`: the file's bytes in base64. `text`: the file as UTF-8. */
const FILE_FORMS = ["base64", "text"] as const;
export type FileForm = (typeof FILE_FORMS)[number];

/** File that a job's input names as `{"file_id": …}`. The Island replaces that object by a string. */
const jobFileSchema = z.object({
  /** Path of members and indices in the input. */
  at: z.array(z.string().max(MAX_PATH_KEY_CHARS)).min(1).max(MAX_PATH_DEPTH),
  form: z.enum(FILE_FORMS),
  bytes: z.number().int().nonnegative().max(MAX_JOB_FILE_BYTES),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Path on any coordinator of the network. The path expires, and a request also requires the Island's token. */
  address: z.string().max(1_000).startsWith(ISLAND_FILES_PATH),
});
export type JobFile = z.infer<typeof jobFileSchema>;

export const jobFilesSchema = z
  .array(jobFileSchema)
  .max(MAX_FILES_OF_JOB)
  .refine((files) => files.reduce((sum, { bytes }) => sum + bytes, 0) <= MAX_JOB_FILE_BYTES, "are too large together");

/** Returns the file id if a value names a file, which is an object with only `file_id`; otherwise null. */
export function fileIdOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { file_id: id, ...rest } = value as Record<string, unknown>;
  return typeof id === "string" && Object.keys(rest).length === 0 ? id : null;
}

/** Returns a copy of `input` with `value` at an existing path. @throws {Error} if the path does not exist */
export function withValueAt<T extends Readonly<Record<string, unknown>>>(
  input: T,
  at: readonly string[],
  value: JsonValue,
): T {
  return replace(input, at, value) as T;
}

function replace(inside: unknown, [key, ...rest]: readonly string[], value: JsonValue): unknown {
  if (key === undefined) return value;
  if (Array.isArray(inside) && Object.hasOwn(inside, key))
    return inside.map((each: unknown, index) => (String(index) === key ? replace(each, rest, value) : each));
  if (typeof inside !== "object" || inside === null || !Object.hasOwn(inside, key))
    throw new Error("The input must have a value at the path of each file");
  // The member is not set by assignment, because it may be named `__proto__`.
  return Object.fromEntries(
    Object.entries(inside).map(([name, each]) => [name, name === key ? replace(each, rest, value) : each]),
  );
}

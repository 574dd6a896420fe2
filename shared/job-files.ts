import { z } from "zod";
import { MIB } from "./format-bytes.ts";
import type { JsonValue } from "./json-value.ts";

/** The agent fetches files that a job's input names, in `features` of `hello`. */
export const FILES_FEATURE = "files";
/** All files of a job together. In base64 they fit into one message to a host process (64 MiB) beside the rest of the input. */
export const MAX_JOB_FILE_BYTES = 32 * MIB;
export const MAX_FILES_OF_JOB = 16;
/** Of the path in an input at which a file stands. */
export const MAX_PLACE_DEPTH = 32;
export const MAX_PLACE_KEY_CHARS = 200;
/** Where Islands fetch them; an id and a signed query follow. */
export const ISLAND_FILES_PATH = "/api/v1/island/files/";

/** `base64`: the file's bytes in base64. `text`: the file, which is UTF-8. */
const FILE_FORMS = ["base64", "text"] as const;
export type FileForm = (typeof FILE_FORMS)[number];

/** A file that stands in a job's input as `{"file_id": …}`. The Island puts a string in that place. */
const jobFileSchema = z.object({
  /** Members and indices from the input down. */
  at: z.array(z.string().max(MAX_PLACE_KEY_CHARS)).min(1).max(MAX_PLACE_DEPTH),
  form: z.enum(FILE_FORMS),
  bytes: z.number().int().nonnegative().max(MAX_JOB_FILE_BYTES),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** A path of the coordinator, whichever the Island has a session with. It expires, and needs the Island's token beside it. */
  address: z.string().max(1_000).startsWith(ISLAND_FILES_PATH),
});
export type JobFile = z.infer<typeof jobFileSchema>;

export const jobFilesSchema = z
  .array(jobFileSchema)
  .max(MAX_FILES_OF_JOB)
  .refine((files) => files.reduce((sum, { bytes }) => sum + bytes, 0) <= MAX_JOB_FILE_BYTES, "are too large together");

/** The id that an input's value stands for, if it names a file: an object of `file_id` alone. */
export function fileIdOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { file_id: id, ...rest } = value as Record<string, unknown>;
  return typeof id === "string" && Object.keys(rest).length === 0 ? id : null;
}

/** A copy of `input` with `value` at a path that it has. @throws {Error} where it has none. */
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
    throw new Error("The input has nothing at the place of a file");
  // Not by an assignment: a member may be named `__proto__`.
  return Object.fromEntries(
    Object.entries(inside).map(([name, each]) => [name, name === key ? replace(each, rest, value) : each]),
  );
}

import { z } from "@hono/zod-openapi";
import { FILE_PURPOSES, type FilePurpose, type FileRecord } from "../../store/files/files.ts";
import { openAiPageOf, queryInt } from "../../http/schemas/pagination.ts";
import { fileLifeSchema, presentUnixTime, presentUnixTimeOrNull } from "../../http/schemas/wire-units.ts";

/** Maximum `limit` that OpenAI's clients may send; a page has at most {@link MAX_FILES_OF_PAGE}. */
const MAX_LIMIT = 10_000;
export const MAX_FILES_OF_PAGE = 1_000;
/** All purposes but `batch_output`, which is for files that batches write. */
const UPLOAD_PURPOSES = FILE_PURPOSES.filter((purpose) => purpose !== "batch_output");

const uploadPurposeSchema = z
  .enum(UPLOAD_PURPOSES as [FilePurpose, ...FilePurpose[]])
  .describe("Purpose of the file. Inputs of batches need `batch`; all other uses accept any purpose");

/** Fields of the upload form, except `file`. */
export const uploadFieldsSchema = z.object({
  purpose: uploadPurposeSchema,
  "expires_after[anchor]": z.literal("created_at").optional(),
  "expires_after[seconds]": z.coerce
    .number()
    .pipe(fileLifeSchema.describe("Lifetime of the file, at most the coordinator's retention of files"))
    .optional(),
});

export const uploadFormSchema = uploadFieldsSchema
  .extend({ file: z.string().openapi({ format: "binary", description: "The file" }) })
  .openapi("UploadFile");

export const fileListQuery = z.object({
  after: z.string().max(100).optional().describe("Id of the last file of the previous page"),
  limit: queryInt(1, MAX_LIMIT, MAX_FILES_OF_PAGE),
  order: z.enum(["asc", "desc"]).default("desc").describe("Order by creation time"),
  purpose: z.enum(FILE_PURPOSES).optional(),
});

const secondsSchema = z.int().describe("Unix time in seconds");

export const fileSchema = z
  .object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: secondsSchema,
    expires_at: secondsSchema.nullable().describe("When the file is removed; null: only on request"),
    filename: z.string(),
    purpose: z.enum(FILE_PURPOSES),
    status: z.literal("processed"),
    sha256: z.string().describe("SHA-256 of the content, in hexadecimal"),
  })
  .openapi("File");

export const fileListSchema = openAiPageOf(fileSchema).openapi("FileList");

export const deletedFileSchema = z
  .object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })
  .openapi("DeletedFile");

export function presentFile(file: FileRecord): z.infer<typeof fileSchema> {
  const { id, sizeBytes, createdAtMs, expiresAtMs, filename, purpose, sha256 } = file;
  return {
    id,
    object: "file",
    bytes: sizeBytes,
    created_at: presentUnixTime(createdAtMs),
    expires_at: presentUnixTimeOrNull(expiresAtMs),
    filename,
    purpose,
    status: "processed",
    sha256,
  };
}

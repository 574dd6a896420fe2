import { z } from "@hono/zod-openapi";
import { MAX_PARTS, type UploadView } from "../../files/upload-service.ts";
import { ignored, requestObject } from "../../../shared/request-object.ts";
import type { UploadPart } from "../../store/upload-store.ts";
import { fileLifeSchema, fileSchema, presentFile, secondsSchema, uploadPurposeSchema } from "./file-schemas.ts";
import { orNull } from "./responses.ts";
import { presentUnixTime } from "./wire-units.ts";

const MAX_FILENAME_CHARS = 1_024;

export const createUploadSchema = requestObject({
  bytes: z.int().min(1).describe("Size of the whole file"),
  filename: z.string().min(1).max(MAX_FILENAME_CHARS),
  purpose: uploadPurposeSchema,
  mime_type: ignored("files are bytes, and given as such"),
  expires_after: z
    .object({ anchor: z.literal("created_at"), seconds: fileLifeSchema })
    .nullish()
    .describe("Of the file, from when it is complete"),
}).openapi("CreateUpload");

export const partFormSchema = z
  .object({ data: z.string().openapi({ format: "binary", description: "The part, at most 64 MB" }) })
  .openapi("AddUploadPart");

export const completeUploadSchema = z
  .object({
    part_ids: z.array(z.string().max(100)).min(1).max(MAX_PARTS).describe("In the order of the file"),
    md5: z
      .string()
      .regex(/^[0-9a-fA-F]{32}$/, { error: "must be an MD5 in hexadecimal" })
      .nullish()
      .describe("Of the whole file; checked"),
  })
  .openapi("CompleteUpload");

export const partSchema = z
  .object({
    id: z.string(),
    object: z.literal("upload.part"),
    created_at: secondsSchema,
    upload_id: z.string(),
    bytes: z.int(),
    sha256: z.string().describe("Of the part, in hexadecimal"),
  })
  .openapi("UploadPart");

export const uploadSchema = z
  .object({
    id: z.string(),
    object: z.literal("upload"),
    bytes: z.int(),
    created_at: secondsSchema,
    expires_at: secondsSchema.describe(
      "An hour after the start or the last new part, whichever is later, and at most a day after the start",
    ),
    filename: z.string(),
    purpose: uploadPurposeSchema,
    status: z.enum(["pending", "completed", "cancelled", "expired"]),
    parts: z.array(partSchema).describe("What has arrived; none once it is not pending"),
    file: orNull(fileSchema).describe("Of a completed one; null if it was deleted"),
  })
  .openapi("Upload");

export function presentPart({ id, uploadId, sizeBytes, sha256, createdAtMs }: UploadPart): z.infer<typeof partSchema> {
  const created_at = presentUnixTime(createdAtMs);
  return { id, object: "upload.part", created_at, upload_id: uploadId, bytes: sizeBytes, sha256 };
}

export function presentUpload(upload: UploadView): z.infer<typeof uploadSchema> {
  const { id, sizeBytes, createdAtMs, expiresAtMs, filename, purpose, state, parts, file } = upload;
  return {
    id,
    object: "upload",
    bytes: sizeBytes,
    created_at: presentUnixTime(createdAtMs),
    expires_at: presentUnixTime(expiresAtMs),
    filename,
    purpose,
    status: state,
    parts: parts.map(presentPart),
    file: file === null ? null : presentFile(file),
  };
}

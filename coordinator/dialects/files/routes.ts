import { ValidationError } from "../../../shared/errors.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import { validate } from "../../http/middleware/body.ts";
import { announcedBytesOf, readForm, type Form } from "../../http/multipart/read-form.ts";
import { routeGroup } from "../../http/route-group.ts";
import { presentOpenAiPage, openAiPageOf, queryInt } from "../../http/schemas/pagination.ts";
import { json } from "../../http/schemas/responses.ts";
import { contentHeaders, FILE_RESPONSES, sendFile } from "../../http/server/send-file.ts";
import { z } from "@hono/zod-openapi";
import { FILE_PURPOSES, type FilePurpose, type FileRecord } from "../../store/files/files.ts";
import { fileLifeSchema, presentUnixTime, presentUnixTimeOrNull } from "../../http/schemas/wire-units.ts";

/** Maximum `limit` that OpenAI's clients send; a page has at most {@link MAX_FILES_OF_PAGE} files. */
const MAX_LIMIT = 10_000;
const MAX_FILES_OF_PAGE = 1_000;
/** Purposes of uploaded files: all except `batch_output`, which is for files that batches write. */
const UPLOAD_PURPOSES = FILE_PURPOSES.filter((purpose) => purpose !== "batch_output");

const uploadPurposeSchema = z
  .enum(UPLOAD_PURPOSES as [FilePurpose, ...FilePurpose[]])
  .describe("Purpose of the file. The input of a batch needs `batch`; any other use accepts every purpose");

const uploadFieldsSchema = z.object({
  purpose: uploadPurposeSchema,
  "expires_after[anchor]": z.literal("created_at").optional(),
  "expires_after[seconds]": z.coerce
    .number()
    .pipe(fileLifeSchema.describe("Lifetime of the file, at most the coordinator's retention of files"))
    .optional(),
});

const uploadFormSchema = uploadFieldsSchema
  .extend({ file: z.string().openapi({ format: "binary", description: "The file" }) })
  .openapi("UploadFile");

const fileListQuery = z.object({
  after: z.string().max(100).optional().describe("Id of the last file of the previous page"),
  limit: queryInt(1, MAX_LIMIT, MAX_FILES_OF_PAGE),
  order: z.enum(["asc", "desc"]).default("desc").describe("Order by creation time"),
  purpose: z.enum(FILE_PURPOSES).optional(),
});

const secondsSchema = z.int().describe("Unix time in seconds");

const fileSchema = z
  .object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: secondsSchema,
    expires_at: secondsSchema
      .nullable()
      .describe("Unix time in seconds at which the file is removed; null if it stays until you delete it"),
    filename: z.string(),
    purpose: z.enum(FILE_PURPOSES),
    status: z.literal("processed"),
    sha256: z.string().describe("SHA-256 of the content, in hexadecimal"),
  })
  .openapi("File");

const fileListSchema = openAiPageOf(fileSchema).openapi("FileList");

const deletedFileSchema = z
  .object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })
  .openapi("DeletedFile");

function presentFile(file: FileRecord): z.infer<typeof fileSchema> {
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

const FORM_LIMITS = { maxFields: 10, maxFieldBytes: 1_024, maxFiles: 1 };
const FIELDS: ReadonlySet<string> = new Set(Object.keys(uploadFormSchema.shape));

/** Routes of OpenAI's files. Their content is stored on disk, never in the database row of a job. */
export const fileRoutes = routeGroup("/files", { tag: "Files", style: "openai" }, (routes, { files }) => {
  routes.post("", {
    id: "uploadFile",
    is: "Upload a file",
    about: "The whole request must arrive within 60 s. If the client sends nothing for 30 s, the connection is closed.",
    access: "write",
    form: uploadFormSchema,
    responses: { 200: json(fileSchema, "The file is stored durably") },
    fails: [400, 413, 507],
  })(({ c, identity }) => {
    const { accountId } = identity;
    const { incoming } = c.env;
    const { maxFileBytes, arriving: directory } = files;
    return files.receive(accountId, Math.min(announcedBytesOf(incoming), maxFileBytes), async () => {
      await using form = await readForm(incoming, { ...FORM_LIMITS, maxFileBytes, directory });
      return presentFile(await files.add(accountId, arrivedFile(form)));
    });
  });

  routes.get("", {
    id: "listFiles",
    is: "List files",
    about: `A page has at most ${MAX_FILES_OF_PAGE} files, even if \`limit\` is larger; \`has_more\` says whether there are more.`,
    access: "read",
    query: fileListQuery,
    responses: { 200: json(fileListSchema, "A page of files") },
  })(async ({ identity, query }) => {
    const limit = Math.min(query.limit, MAX_FILES_OF_PAGE);
    const found = await files.list(identity.accountId, {
      afterId: query.after ?? null,
      limit: limit + 1,
      isNewestFirst: query.order === "desc",
      purpose: query.purpose ?? null,
    });
    return presentOpenAiPage(found.map(presentFile), limit);
  });

  routes.get("/{id}", {
    id: "getFile",
    is: "Get a file's metadata",
    access: "read",
    responses: { 200: json(fileSchema, "The file") },
    fails: [404],
  })(async ({ identity, params }) => presentFile(await files.get(identity.accountId, params.id)));

  routes.delete("/{id}", {
    id: "deleteFile",
    is: "Delete a file",
    access: "write",
    responses: { 200: json(deletedFileSchema, "The file is deleted") },
    fails: [404, 422],
  })(async ({ identity, params }) => {
    await files.remove(identity.accountId, params.id);
    return { id: params.id, object: "file" as const, deleted: true as const };
  });

  routes.get("/{id}/content", {
    id: "getFileContent",
    is: "Get a file's content",
    about: "Supports `Range`. The ETag is the SHA-256 of the content.",
    access: "read",
    responses: FILE_RESPONSES,
    fails: [404],
  })(async ({ c, identity, params }) => {
    const { file, root, name } = await files.content(identity.accountId, params.id);
    return sendFile(c.env, {
      root,
      name,
      headers: {
        ...contentHeaders(file),
        "Content-Disposition": `attachment; filename*=UTF-8''${extendedValueOf(file.filename)}`,
        // Caches must revalidate the file, which is private and may be deleted.
        "Cache-Control": "private, no-cache",
      },
      missing: `There is no file "${params.id}"`,
    });
  });
});

function arrivedFile(form: Form): Parameters<HttpDeps["files"]["add"]>[1] {
  const repeated = [...form.fields].find(([, values]) => values.length > 1);
  if (repeated !== undefined) throw new ValidationError([{ path: repeated[0], message: "must be sent only once" }]);
  const fields = Object.fromEntries([...form.fields].map(([name, [value]]) => [name, value]));
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined)
    throw new ValidationError([{ path: unknown, message: "is not a parameter of this request" }]);
  const { purpose, ...life } = validate(uploadFieldsSchema, fields);
  const [file] = form.files;
  if (file?.field !== "file") throw new ValidationError([{ path: "file", message: "must be a file" }]);
  const seconds = life["expires_after[seconds]"];
  const { path, filename, sizeBytes, sha256 } = file;
  return { path, filename, sizeBytes, sha256, purpose, expiresAfterMs: seconds === undefined ? null : seconds * 1_000 };
}

/** Encodes a text as the extended value of a header parameter. Source: RFC 8187 §3.2.1. */
function extendedValueOf(text: string): string {
  const escaped = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/['()*]/g, escaped);
}

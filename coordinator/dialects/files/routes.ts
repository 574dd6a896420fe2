import { ValidationError } from "../../../shared/errors.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import { validate } from "../../http/middleware/body.ts";
import { announcedBytesOf, readForm, type Form } from "../../http/multipart/read-form.ts";
import {
  deletedFileSchema,
  fileListQuery,
  fileListSchema,
  fileSchema,
  MAX_FILES_OF_PAGE,
  presentFile,
  uploadFieldsSchema,
  uploadFormSchema,
} from "./schemas.ts";
import { routeGroup } from "../../http/route-group.ts";
import { presentOpenAiPage } from "../../http/schemas/pagination.ts";
import { json } from "../../http/schemas/responses.ts";
import { contentHeaders, FILE_RESPONSES, sendFile } from "../../http/server/send-file.ts";

const MAX_FIELDS = 10;
const MAX_FIELD_BYTES = 1_024;
const FIELDS: ReadonlySet<string> = new Set(Object.keys(uploadFormSchema.shape));
/** Routes of OpenAI's files. Their content is stored on disk, never in a job's row. */
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
    const maxBytes = Math.min(announcedBytesOf(incoming), files.maxFileBytes);
    return files.receive(accountId, maxBytes, async () => {
      await using form = await readForm(incoming, {
        maxFields: MAX_FIELDS,
        maxFieldBytes: MAX_FIELD_BYTES,
        maxFiles: 1,
        maxFileBytes: files.maxFileBytes,
        directory: files.arriving,
      });
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
      // Requests one more item, which shows whether a further page exists.
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
        // The file is private and may be deleted.
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

/** Encodes a text for a header parameter. Source: RFC 8187 §3.2.1. */
function extendedValueOf(text: string): string {
  const escaped = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/['()*]/g, escaped);
}

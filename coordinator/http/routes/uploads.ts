import { createRoute, z } from "@hono/zod-openapi";
import { ValidationError } from "../../../shared/errors.ts";
import { MAX_PART_BYTES } from "../../files/upload-service.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { serveCompatible, serveScoped } from "../middleware/endpoint.ts";
import { announcedBytesOf, readForm, type Form } from "../multipart/read-form.ts";
import { failures, json, jsonBody } from "../schemas/responses.ts";
import {
  completeUploadSchema,
  createUploadSchema,
  partFormSchema,
  partSchema,
  presentPart,
  presentUpload,
  uploadSchema,
} from "../schemas/upload-schemas.ts";

const uploadParams = z.object({ id: z.string() });

const createUploadRoute = createRoute({
  operationId: "createUpload",
  method: "post",
  path: `${API_BASE}/uploads`,
  summary: "Start the upload of a large file in parts",
  description: "As OpenAI's clients do. It survives a restart of the coordinator and of the client.",
  request: jsonBody(createUploadSchema),
  responses: { 200: json(uploadSchema, "It takes parts"), ...failures(413) },
});

const uploadRoute = createRoute({
  operationId: "getUpload",
  method: "get",
  path: `${API_BASE}/uploads/{id}`,
  summary: "An upload, and which of its parts have arrived",
  description:
    "Not in OpenAI's API. A client that starts again sends what is missing, by size and SHA-256 of the parts.",
  request: { params: uploadParams },
  responses: { 200: json(uploadSchema, "The upload"), ...failures(404) },
});

const partRoute = createRoute({
  operationId: "addUploadPart",
  method: "post",
  path: `${API_BASE}/uploads/{id}/parts`,
  summary: "Send a part of a file",
  description:
    "At most 64 MB, which have to arrive within 60 s; parts may come at once and in any order. An upload has each content once: a part that is sent again is answered with the id that it has, so repeats are safe.",
  request: {
    params: uploadParams,
    body: { required: true, content: { "multipart/form-data": { schema: partFormSchema } } },
  },
  responses: { 200: json(partSchema, "The part is durable"), ...failures(400, 404, 413, 507) },
});

const completeRoute = createRoute({
  operationId: "completeUpload",
  method: "post",
  path: `${API_BASE}/uploads/{id}/complete`,
  summary: "Make the file of its parts",
  description: "A repeat with the same parts gives the same file.",
  request: { params: uploadParams, ...jsonBody(completeUploadSchema) },
  responses: { 200: json(uploadSchema, "With its `file`, which is durable"), ...failures(404, 413, 507) },
});

const cancelRoute = createRoute({
  operationId: "cancelUpload",
  method: "post",
  path: `${API_BASE}/uploads/{id}/cancel`,
  summary: "Give an upload up",
  description: "Its parts are removed. A repeat is safe.",
  request: { params: uploadParams },
  responses: { 200: json(uploadSchema, "It is cancelled"), ...failures(404, 422) },
});

/** OpenAI's uploads: large files in parts. */
export function serveUploads(app: HttpApp, deps: HttpDeps): void {
  const { files } = deps;
  serveCompatible(app, deps, createUploadRoute, async ({ c, identity, body }) => {
    const { filename, purpose, bytes: sizeBytes, expires_after } = body;
    const fileLifeMs = expires_after ? expires_after.seconds * 1_000 : null;
    return c.json(
      presentUpload(await files.uploads.create(identity.accountId, { filename, purpose, sizeBytes, fileLifeMs })),
    );
  });

  serveScoped(app, deps, "read", uploadRoute, async ({ c, identity, params }) =>
    c.json(presentUpload(await files.uploads.get(identity.accountId, params.id))),
  );

  serveScoped(app, deps, "write", partRoute, async ({ c, identity, params }) => {
    const { incoming } = c.env;
    const announced = announcedBytesOf(incoming);
    const limits = { maxFields: 0, maxFieldBytes: 0, maxFiles: 1, maxFileBytes: MAX_PART_BYTES };
    const directory = files.arriving;
    let form: Form | undefined;
    try {
      const part = await files.uploads.addPart(
        identity.accountId,
        params.id,
        Math.min(announced, MAX_PART_BYTES),
        async () => {
          form = await readForm(incoming, { ...limits, directory });
          const [file] = form.files;
          if (file?.field === "data") return file;
          throw new ValidationError([{ path: "data", message: "must be a file" }]);
        },
      );
      return c.json(presentPart(part));
    } finally {
      await form?.[Symbol.asyncDispose]();
    }
  });

  serveCompatible(app, deps, completeRoute, async ({ c, identity, params, body }) => {
    const { part_ids: partIds, md5 } = body;
    return c.json(presentUpload(await files.uploads.complete(identity.accountId, params.id, partIds, md5 ?? null)));
  });

  serveScoped(app, deps, "write", cancelRoute, async ({ c, identity, params }) =>
    c.json(presentUpload(await files.uploads.cancel(identity.accountId, params.id))),
  );
}

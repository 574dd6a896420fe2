import { createRoute, z } from "@hono/zod-openapi";
import { submitterOf } from "../../accounts/identity.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../../http/http-deps.ts";
import { serveCompatible, serveScoped } from "../../http/middleware/endpoint.ts";
import type { FileBatchApi } from "./file-batch-service.ts";
import {
  fileBatchBodySchema,
  fileBatchListQuery,
  fileBatchListSchema,
  fileBatchSchema,
  presentFileBatch,
} from "./schemas.ts";
import { failures, json, jsonBody } from "../../http/schemas/responses.ts";

const PATH = `${API_BASE}/batches`;
const batchParams = z.object({ id: z.string() });

const createBatchRoute = createRoute({
  operationId: "createFileBatch",
  method: "post",
  path: PATH,
  summary: "Answer every request of a JSONL file",
  description:
    "As OpenAI's clients do. The file is checked in the background. Each line is a request of the endpoint and becomes its jobs, which wait for Islands as other batch jobs do; results are files. `POST /jobs/batch` submits jobs of one Cargo at once instead.",
  request: jsonBody(fileBatchBodySchema),
  responses: { 200: json(fileBatchSchema, "The batch is durable") },
});

const listRoute = createRoute({
  operationId: "listFileBatches",
  method: "get",
  path: PATH,
  summary: "List batches over files, newest first",
  request: { query: fileBatchListQuery },
  responses: { 200: json(fileBatchListSchema, "A page of batches") },
});

const detailRoute = createRoute({
  operationId: "getFileBatch",
  method: "get",
  path: `${PATH}/{id}`,
  summary: "A batch over a file, and how far it is",
  request: { params: batchParams },
  responses: { 200: json(fileBatchSchema, "The batch"), ...failures(404) },
});

const cancelRoute = createRoute({
  operationId: "cancelFileBatch",
  method: "post",
  path: `${PATH}/{id}/cancel`,
  summary: "Cancel a batch over a file",
  description: "Lines that were answered stay in its files. One that has ended stays as it is.",
  request: { params: batchParams },
  responses: { 200: json(fileBatchSchema, "The batch, which soon ends"), ...failures(404) },
});

/** OpenAI's batches, beside those of `POST /jobs/batch`. */
export function serveFileBatches(app: HttpApp, deps: HttpDeps, fileBatches: FileBatchApi): void {
  serveCompatible(app, deps, createBatchRoute, async ({ c, identity, body }) => {
    const life = body.output_expires_after;
    const batch = await fileBatches.create(identity.accountId, {
      endpoint: body.endpoint,
      inputFileId: body.input_file_id,
      completionWindow: body.completion_window,
      metadata: body.metadata ?? null,
      outputExpiresAfterMs: life == null ? null : life.seconds * 1_000,
      apiKey: submitterOf(identity).apiKey,
    });
    return c.json(presentFileBatch(batch), 200);
  });

  serveScoped(app, deps, "read", listRoute, async ({ c, identity, query }) => {
    const { after: afterId = null, limit } = query;
    // One more tells whether there are more.
    const found = await fileBatches.list(identity.accountId, { afterId, limit: limit + 1 });
    const data = found.slice(0, limit).map(presentFileBatch);
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return c.json({ object: "list" as const, data, first_id, last_id, has_more: found.length > limit }, 200);
  });

  serveScoped(app, deps, "read", detailRoute, async ({ c, identity, params }) =>
    c.json(presentFileBatch(await fileBatches.get(identity.accountId, params.id)), 200),
  );

  serveScoped(app, deps, "write", cancelRoute, async ({ c, identity, params }) =>
    c.json(presentFileBatch(await fileBatches.cancel(identity.accountId, params.id)), 200),
  );
}

import { createRoute, z } from "@hono/zod-openapi";
import { submitterOf } from "../../accounts/identity.ts";
import {
  batchSchema,
  presentBatch,
  presentSubmittedBatch,
  submitBatchSchema,
  submittedBatchSchema,
} from "../schemas/batch-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { idempotencyOf } from "../middleware/idempotency.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { webhookOf } from "../schemas/webhook-schemas.ts";

const batchParams = z.object({ id: z.string() });

const submitRoute = createRoute({
  operationId: "submitBatch",
  method: "post",
  path: `${API_BASE}/jobs/batch`,
  summary: "Submit up to 100 jobs of one Cargo",
  description:
    "All or none: the jobs are stored and their prices held together. A job counts against the account's limit of unfinished jobs from its start, not while it waits. With an Idempotency-Key header, the same key and body within 24 h return the first batch again.",
  request: {
    ...jsonBody(submitBatchSchema),
    headers: z.object({ "idempotency-key": z.string().optional() }),
  },
  responses: {
    201: json(data(submittedBatchSchema), "All jobs are durable and their prices are held"),
    ...failures(402, 404),
  },
});

const detailRoute = createRoute({
  operationId: "getBatch",
  method: "get",
  path: `${API_BASE}/jobs/batch/{id}`,
  summary: "A batch with the state of each job",
  request: { params: batchParams },
  responses: { 200: json(data(batchSchema), "The batch"), ...failures(404) },
});

const cancelRoute = createRoute({
  operationId: "cancelBatch",
  method: "delete",
  path: `${API_BASE}/jobs/batch/{id}`,
  summary: "Cancel every job of a batch that has not ended",
  description: "Jobs that have ended stay as they are. If all have ended: 422 job_not_cancellable.",
  request: { params: batchParams },
  responses: { 200: json(data(batchSchema), "Cancelled"), ...failures(404, 422) },
});

export function serveBatches(app: HttpApp, deps: HttpDeps): void {
  const { batches } = deps;

  serveScoped(app, deps, "write", submitRoute, async ({ c, identity, body }) => {
    const batch = await batches.submit({
      ...submitterOf(identity),
      slug: body.workload,
      inputs: body.inputs,
      priority: body.priority,
      failMode: body.fail_mode,
      idempotency: idempotencyOf(c.req.header("idempotency-key"), body),
      webhook: webhookOf(body),
    });
    return c.json({ data: presentSubmittedBatch(batch) }, 201);
  });

  serveScoped(app, deps, "read", detailRoute, async ({ c, identity, params }) =>
    c.json({ data: presentBatch(await batches.get(identity.accountId, params.id)) }),
  );

  serveScoped(app, deps, "write", cancelRoute, async ({ c, identity, params }) =>
    c.json({ data: presentBatch(await batches.cancel(identity.accountId, params.id)) }),
  );
}

import { createRoute, z } from "@hono/zod-openapi";
import { isTerminal } from "../../../shared/job-state.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { submitterOf } from "../../accounts/identity.ts";
import { LargeJson, MAX_INLINE_CHARS } from "../../store/jobs/large-json.ts";
import {
  batchSchema,
  MAX_BATCH_JOBS,
  presentBatch,
  presentSubmittedBatch,
  submitBatchSchema,
  submittedBatchSchema,
} from "../schemas/batch-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { idempotencyOf } from "../middleware/idempotency.ts";
import { queryInt } from "../schemas/pagination.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { webhookOf } from "../schemas/webhook-schemas.ts";

/** Characters of outputs in one response, as JSON. Above it, no further output is added. */
const MAX_OUTPUT_CHARS = MIB;

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
  description:
    "With `include=output` the jobs have their outputs, as many as one answer may hold; `next_output_offset` leads to those after them.",
  request: {
    params: batchParams,
    query: z.object({
      include: z.enum(["output"]).optional(),
      output_offset: queryInt(0, MAX_BATCH_JOBS, 0).openapi({ description: "Place of the first job with its output" }),
    }),
  },
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

  serveScoped(app, deps, "read", detailRoute, async ({ c, identity, params, query }) => {
    const { accountId } = identity;
    const batch = presentBatch(await batches.get(accountId, params.id));
    if (query.include === undefined) return c.json({ data: batch });
    return c.json({ data: { ...batch, ...(await outputsOf(deps, accountId, batch.jobs, query.output_offset)) } });
  });

  serveScoped(app, deps, "write", cancelRoute, async ({ c, identity, params }) =>
    c.json({ data: presentBatch(await batches.cancel(identity.accountId, params.id)) }),
  );
}

type PresentedBatch = z.infer<typeof batchSchema>;

/** The jobs of a batch, from `offset` on with their outputs, until these are too many for one answer. */
async function outputsOf(
  { jobs }: Pick<HttpDeps, "jobs">,
  accountId: string,
  listed: PresentedBatch["jobs"],
  offset: number,
): Promise<Pick<PresentedBatch, "jobs" | "next_output_offset">> {
  const presented = listed.slice(0, offset);
  let chars = 0;
  for (const job of listed.slice(offset)) {
    if (chars > MAX_OUTPUT_CHARS) break;
    if (!isTerminal(job.status)) {
      presented.push({ ...job, output: null, error: null });
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- The size of one decides whether the next is read.
    const { output = null, error } = await jobs.get(accountId, job.id);
    const size = output instanceof LargeJson ? output.chars : JSON.stringify(output).length;
    const isOmitted = size > MAX_INLINE_CHARS;
    presented.push({ ...job, ...(isOmitted ? { output: null, output_omitted: true } : { output }), error });
    if (!isOmitted) chars += size;
  }
  const rest = listed.slice(presented.length);
  return { jobs: [...presented, ...rest], next_output_offset: rest.length === 0 ? null : presented.length };
}

import { z } from "@hono/zod-openapi";
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
import type { HttpDeps } from "../http-deps.ts";
import { idempotencyOf } from "../middleware/idempotency.ts";
import { queryInt } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { webhookOf } from "../schemas/webhook-schemas.ts";
import { routeGroup } from "../route-group.ts";

/** Characters of outputs in one response, as JSON. Above it, no further output is added. */
const MAX_OUTPUT_CHARS = MIB;

export const batchRoutes = routeGroup("/jobs/batch", { tag: "Jobs" }, (routes, deps) => {
  const { batches } = deps;

  routes.post("", {
    id: "submitBatch",
    is: "Submit up to 100 jobs of one Cargo",
    about:
      "All or none: the jobs are stored and their prices held together. A job counts against the account's limit of unfinished jobs from its start, not while it waits. With an Idempotency-Key header, the same key and body within 24 h return the first batch again.",
    access: "write",
    headers: z.object({ "idempotency-key": z.string().optional() }),
    body: submitBatchSchema,
    answers: { 201: json(data(submittedBatchSchema), "All jobs are durable and their prices are held") },
    fails: [402, 404],
  })(async ({ c, identity, body }) => {
    const batch = await batches.submit({
      ...submitterOf(identity),
      slug: body.workload,
      inputs: body.inputs,
      priority: body.priority,
      failMode: body.fail_mode,
      idempotency: idempotencyOf(c.req.header("idempotency-key"), body),
      webhook: webhookOf(body),
    });
    return { data: presentSubmittedBatch(batch) };
  });

  routes.get("/{id}", {
    id: "getBatch",
    is: "A batch with the state of each job",
    about:
      "With `include=output` the jobs have their outputs, as many as one answer may hold; `next_output_offset` leads to those after them.",
    access: "read",
    query: z.object({
      include: z.enum(["output"]).optional(),
      output_offset: queryInt(0, MAX_BATCH_JOBS, 0).describe("Place of the first job with its output"),
    }),
    answers: { 200: json(data(batchSchema), "The batch") },
    fails: [404],
  })(async ({ identity, params, query }) => {
    const { accountId } = identity;
    const batch = presentBatch(await batches.get(accountId, params.id));
    if (query.include === undefined) return { data: batch };
    return { data: { ...batch, ...(await outputsOf(deps, accountId, batch.jobs, query.output_offset)) } };
  });

  routes.delete("/{id}", {
    id: "cancelBatch",
    is: "Cancel every job of a batch that has not ended",
    about: "Jobs that have ended stay as they are. If all have ended: 422 job_not_cancellable.",
    access: "write",
    answers: { 200: json(data(batchSchema), "Cancelled") },
    fails: [404, 422],
  })(async ({ identity, params }) => ({ data: presentBatch(await batches.cancel(identity.accountId, params.id)) }));
});

type PresentedBatch = z.infer<typeof batchSchema>;

/** The jobs of a batch, from `offset` on with their outputs, until these are too many for one answer. */
async function outputsOf(
  { jobs }: HttpDeps,
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

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
import { idempotencyHeaders, idempotencyOf } from "../middleware/idempotency.ts";
import { queryInt } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { askedTermsOf } from "../schemas/trust-fields.ts";
import { webhookOf } from "../schemas/webhook-schemas.ts";
import { routeGroup } from "../route-group.ts";

/** Maximum characters of outputs as JSON in one response; the output that exceeds it is the last one. */
const MAX_OUTPUT_CHARS = MIB;

export const batchRoutes = routeGroup("/jobs/batch", { tag: "Jobs" }, (routes, deps) => {
  const { batches } = deps;

  routes.post("", {
    id: "submitBatch",
    is: "Submit up to 100 jobs of one Cargo",
    about:
      "Stores all jobs and holds their prices, or does neither. Jobs above the account's limit of unfinished jobs wait, and count towards it only when they are admitted. With an `Idempotency-Key` header, a repeat of the same key and body within 24 h returns the first batch.",
    access: "write",
    headers: idempotencyHeaders,
    body: submitBatchSchema,
    inputTexts: "inputs",
    responses: { 201: json(data(submittedBatchSchema), "All jobs are stored durably and their prices are held") },
    fails: [402, 404],
  })(async ({ c, identity, body }) => {
    const batch = await batches.submit({
      ...submitterOf(identity),
      slug: body.workload,
      inputs: body.inputs,
      priority: body.priority,
      ...askedTermsOf(body),
      failMode: body.fail_mode,
      idempotency: await idempotencyOf(c, body),
      webhook: webhookOf(body),
    });
    return { data: presentSubmittedBatch(batch) };
  });

  routes.get("/{id}", {
    id: "getBatch",
    is: "Get a batch with the state of each job",
    about:
      "With `include=output`, jobs include their outputs, up to the size limit of one response. Continue with `output_offset` set to `next_output_offset`.",
    access: "read",
    query: z.object({
      include: z.enum(["output"]).optional(),
      output_offset: queryInt(0, MAX_BATCH_JOBS, 0).describe("Index of the first job to include with its output"),
    }),
    responses: { 200: json(data(batchSchema), "The batch") },
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
    about: "Ended jobs do not change. If all have ended, the response is 422 job_not_cancellable.",
    access: "write",
    responses: { 200: json(data(batchSchema), "Cancelled") },
    fails: [404, 422],
  })(async ({ identity, params }) => ({ data: presentBatch(await batches.cancel(identity.accountId, params.id)) }));
});

type PresentedBatch = z.infer<typeof batchSchema>;

/** Returns the jobs of a batch, with outputs from `offset` on until the response is full. */
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
    // oxlint-disable-next-line no-await-in-loop -- The size of one output decides whether the next is read.
    const { output = null, error } = await jobs.get(accountId, job.id);
    const size = output instanceof LargeJson ? output.chars : JSON.stringify(output).length;
    const isOmitted = size > MAX_INLINE_CHARS;
    presented.push({ ...job, ...(isOmitted ? { output: null, output_omitted: true } : { output }), error });
    if (!isOmitted) chars += size;
  }
  const rest = listed.slice(presented.length);
  return { jobs: [...presented, ...rest], next_output_offset: rest.length === 0 ? null : presented.length };
}

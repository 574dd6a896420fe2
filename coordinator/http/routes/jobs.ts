import { z } from "@hono/zod-openapi";
import { JOB_STATES, isTerminal } from "../../../shared/job-state.ts";
import type { Clock } from "../../../shared/clock.ts";
import { submitterOf } from "../../accounts/identity.ts";
import type { Feed } from "../../jobs/feed.ts";
import type { JobView } from "../../jobs/submitted-job.ts";
import { openUntil } from "../../jobs/until-feed.ts";
import { routeGroup } from "../route-group.ts";
import { isOperator } from "../middleware/auth.ts";
import { idempotencyHeaders, idempotencyOf } from "../middleware/idempotency.ts";
import {
  detailSchema,
  presentDetail,
  presentSubmitted,
  statesSchema,
  listedSchema,
  presentListed,
  submitSchema,
  submittedSchema,
} from "../schemas/job-schemas.ts";
import { disconnectSignal } from "../streaming/request-context.ts";
import { respondWithJson } from "../middleware/json-response.ts";
import { pageOf, pageQuery, presentPage, queryInt } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { askedTermsOf } from "../schemas/trust-fields.ts";
import { webhookOf } from "../schemas/webhook-schemas.ts";

/** Maximum duration of a long poll in seconds. Proxies cut an idle connection after a minute or more. */
const MAX_WAIT_S = 60;

export const jobRoutes = routeGroup("/jobs", { tag: "Jobs" }, (routes, { jobs, clock }) => {
  routes.post("", {
    id: "submitJob",
    is: "Submit a job",
    about:
      "With an `Idempotency-Key` header, a repeat of the same key and body within 24 h returns the first job. `input` of a chat has `messages`, or a `prompt`, and its parameters.",
    access: "write",
    headers: idempotencyHeaders,
    body: submitSchema,
    mayHaveImages: true,
    responses: { 201: json(data(submittedSchema), "The job is stored durably and its price is held") },
    fails: [402, 404],
  })(async ({ c, identity, body }) => {
    const job = await jobs.submit({
      ...submitterOf(identity),
      slug: body.workload,
      input: body.input,
      priority: body.priority,
      ...askedTermsOf(body),
      idempotency: await idempotencyOf(c, body),
      webhook: webhookOf(body),
    });
    return { data: presentSubmitted(job) };
  });

  routes.get("", {
    id: "listJobs",
    is: "List jobs, newest first",
    access: "read",
    query: z.object({
      ...pageQuery(),
      status: statesSchema.optional(),
      workload: z.string().optional().describe("Cargo slug"),
      batch: z.string().optional().describe("Id of the batch whose jobs are listed"),
    }),
    responses: { 200: json(pageOf(listedSchema), "Jobs") },
  })(async ({ identity, query }) => {
    const { limit, offset, status, workload, batch } = query;
    const filter = {
      ...(status === undefined ? {} : { states: [...new Set(status)] }),
      ...(workload === undefined ? {} : { slug: workload }),
      ...(batch === undefined ? {} : { batchId: batch }),
    };
    const { jobs: page, total } = await jobs.list(identity.accountId, { limit, offset }, filter);
    return presentPage(page.map(presentListed), total, query);
  });

  routes.get("/{id}", {
    id: "getJob",
    is: "Get a job's status, output and usage",
    about: "With `wait`, the response is sent when the job ends, or after `wait` seconds with the job's current state.",
    access: "read",
    query: z.object({ wait: queryInt(0, MAX_WAIT_S, 0).describe("Maximum seconds to wait for the job's end") }),
    responses: { 200: json(data(detailSchema), "The job") },
    fails: [404, 503],
  })(async ({ c, identity, params, query }) => {
    const { accountId } = identity;
    const respond = (job: JobView) => respondWithJson(c, identity, { data: presentDetail(job, isOperator(identity)) });
    const job = await jobs.get(accountId, params.id);
    if (query.wait === 0 || isTerminal(job.state)) return respond(job);
    const signal = disconnectSignal(c.env.outgoing);
    await untilEnded(() => jobs.openFeed(accountId, params.id), query.wait * 1_000, clock, signal);
    if (signal.aborted) return null;
    return respond(await jobs.get(accountId, params.id));
  });

  routes.delete("/{id}", {
    id: "cancelJob",
    is: "Cancel an unfinished job",
    about:
      "The output so far stays. For an ended job the response is 422 job_not_cancellable, and nothing changes. `DELETE /jobs/{id}/content` removes its content.",
    access: "write",
    responses: {
      200: json(data(z.object({ id: z.string(), status: z.enum(JOB_STATES) })), "Cancelled"),
    },
    fails: [404, 422],
  })(async ({ identity, params }) => ({
    data: { id: params.id, status: await jobs.cancel(identity.accountId, params.id) },
  }));

  routes.delete("/{id}/content", {
    id: "deleteJobContent",
    is: "Delete the input and output of an ended job",
    about:
      "Permanently removes the job's input, output and stream, and in a conversation the message and its response. Status, usage and charge stay. A repeat gets the same response. An unfinished job must be cancelled first: until then, the response is 422 validation_failed.",
    access: "write",
    responses: { 200: json(data(z.object({ id: z.string(), deleted: z.literal(true) })), "Deleted") },
    fails: [404, 422],
  })(async ({ identity, params }) => {
    await jobs.deleteContent(identity.accountId, params.id);
    return { data: { id: params.id, deleted: true as const } };
  });
});

/** Resolves when the job's end is durable, `waitMs` have passed, or `signal` aborts. Reads nothing from storage. */
async function untilEnded(open: () => Promise<Feed>, waitMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const waited = new AbortController();
  const timer = clock.schedule(waitMs, () => waited.abort());
  try {
    await openUntil(open, ({ ending }) => ending !== null, AbortSignal.any([signal, waited.signal]));
  } finally {
    timer.cancel();
  }
}

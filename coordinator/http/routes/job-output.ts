import { createRoute, z } from "@hono/zod-openapi";
import { JOB_STATES, isTerminal } from "../../../shared/job-state.ts";
import type { Feed } from "../../jobs/feed.ts";
import type { JobView } from "../../jobs/submitted-job.ts";
import type { FeedItem } from "../../store/jobs/job-store.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { answerJson } from "../middleware/json-answer.ts";
import { presentUsage, usageSchema } from "../schemas/wire-units.ts";
import { data, failures, json, orNull } from "../schemas/responses.ts";

const outputSchema = z
  .object({
    id: z.string(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    output: z.unknown().openapi({
      description:
        "Text so far, the last image as {format, data}, or the output once completed; null before any output",
    }),
    is_complete: z.boolean().openapi({ description: "The job is completed and `output` is all of it" }),
    tokens: z.int().openapi({ description: "Model tokens delivered" }),
    progress: z
      .object({ step: z.int(), total: z.int() })
      .nullable()
      .openapi({ description: "The last progress that the Cargo reported" }),
    usage: orNull(usageSchema).openapi({ description: "Null until the job has ended" }),
  })
  .openapi("JobOutput");

const outputRoute = createRoute({
  operationId: "getJobOutput",
  method: "get",
  path: `${API_BASE}/jobs/{id}/output`,
  summary: "Output of a job so far",
  description: "Works while the job runs. Output from before a failure or cancellation stays readable.",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(data(outputSchema), "The output so far"), ...failures(404, 410, 503) },
});

export function serveJobOutput(app: HttpApp, deps: HttpDeps): void {
  const { jobs } = deps;
  serveScoped(app, deps, "read", outputRoute, async ({ c, identity, params }) => {
    // The feed first: if the job ends between the two reads, the record has the whole output.
    const feed = await jobs.openFeed(identity.accountId, params.id);
    const job = await jobs.get(identity.accountId, params.id);
    return answerJson(c, identity, { data: presentOutput(job, feed) });
  });
}

function presentOutput(job: JobView, feed: Feed): z.infer<typeof outputSchema> {
  const isComplete = job.state === "completed";
  const progress = lastOf(feed, "progress");
  return {
    id: job.id,
    workload_slug: job.slug,
    status: job.state,
    output: (isComplete ? job.output : producedSoFar(feed)) ?? null,
    is_complete: isComplete,
    tokens: feed.tokens,
    progress: progress === undefined ? null : { step: progress.step, total: progress.total },
    usage: isTerminal(job.state) ? presentUsage(job.usage, job.creditsUsedMicro) : null,
  };
}

/** In the shape of the final output. Undefined while there is nothing, and for Cargos that give their value at the end. */
function producedSoFar(feed: Feed): unknown {
  const image = lastOf(feed, "image");
  if (image !== undefined) return { format: image.format, data: image.data };
  return lastOf(feed, "token") === undefined ? undefined : feed.text();
}

function lastOf<T extends FeedItem["type"]>({ items }: Feed, type: T): Extract<FeedItem, { type: T }> | undefined {
  return items.findLast((item): item is Extract<FeedItem, { type: T }> => item.type === type);
}

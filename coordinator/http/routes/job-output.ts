import { z } from "@hono/zod-openapi";
import { JOB_STATES, isTerminal } from "../../../shared/job-state.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Feed } from "../../jobs/feed.ts";
import type { JobView } from "../../jobs/submitted-job.ts";
import type { FeedItem } from "../../store/jobs/job-store.ts";
import { FEED_START, parsePosition } from "../../jobs/feed-position.ts";
import { respondWithJson, LARGE_RESPONSE_CHARS } from "../middleware/json-response.ts";
import { presentUsage, usageSchema } from "../schemas/wire-units.ts";
import { data, json, orNull, eventStream } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";
import { jobEvents } from "../streaming/event-encoder.ts";
import { jobEventSchema } from "../schemas/event-schemas.ts";
import { streamFeed, SSE_HEADERS } from "../streaming/sse.ts";

const outputSchema = z
  .object({
    id: z.string(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    output: z
      .unknown()
      .describe(
        "Text so far, the most recent image as `{format, data}`, or the whole output of a completed job; null before any output",
      ),
    is_complete: z.boolean().describe("Whether the job is completed and `output` is the whole output"),
    tokens: z.int().describe("Number of model tokens delivered"),
    progress: z
      .object({ step: z.int(), total: z.int() })
      .nullable()
      .describe("Most recent progress that the Cargo reported; null if it reported none"),
    usage: orNull(usageSchema).describe("Usage of the job; null until it has ended"),
  })
  .openapi("JobOutput");

const POSITION_LOST =
  "The coordinator lost output that it had delivered before this event. Discard all earlier events and read the stream again without the id";

export const jobOutputRoutes = routeGroup("/jobs", { tag: "Jobs" }, (routes, deps) => {
  const { jobs } = deps;

  routes.get("/{id}/output", {
    id: "getJobOutput",
    is: "Get a job's output so far",
    about: "Works while the job runs. Output produced before a failure or cancellation stays readable.",
    access: "read",
    responses: { 200: json(data(outputSchema), "The output so far") },
    fails: [404, 410, 503],
  })(async ({ c, identity, params }) => {
    // The feed is opened before the job is read: if the job ends in between, its record has the whole output.
    const feed = await jobs.openFeed(identity.accountId, params.id);
    const job = await jobs.get(identity.accountId, params.id);
    return respondWithJson(c, identity, { data: presentOutput(job, feed) });
  });

  routes.get("/{id}/stream", {
    id: "streamJob",
    is: "Stream a job's output while it is produced",
    about:
      "With `Last-Event-ID`, the stream continues after that event, without a gap or a repeat. The stream of an ended job is replayed. If a crash of the coordinator lost output that it had already delivered, the stream ends without `done` or `error`, and resuming gets 422 position_lost: discard all earlier events and read the stream again without the header.",
    access: "read",
    query: z.object({ last_event_id: z.string().optional() }),
    headers: z.object({ "last-event-id": z.string().optional() }),
    responses: {
      200: {
        description: "Server-Sent Events; the data of each event is a JobEvent",
        content: eventStream(jobEventSchema),
      },
      204: { description: "The job has ended, and no events follow that id" },
    },
    fails: [404, 410, 422, 503],
  })(async ({ c, identity, params, query }) => {
    const { accountId } = identity;
    await jobs.assertOwn(accountId, params.id);
    const lastEventId = c.req.header("last-event-id") ?? query.last_event_id;
    const after = (lastEventId === undefined ? undefined : parsePosition(lastEventId)) ?? FEED_START;
    // A status of 204 keeps an EventSource from reconnecting.
    if (after.ended) return c.body(null, 204);
    if (c.req.method === "HEAD") return c.body(null, 200, SSE_HEADERS);
    const response = c.env.outgoing;
    // The slot is taken before the feed is opened, because the feed of an ended job is read completely. The slot is
    // released when the response ends.
    await c.get("limits").openStream(identity, response);
    const feed = await jobs.openFeed(accountId, params.id, after);
    if (feed.hasLost(after)) throw new ServiceError("position_lost", POSITION_LOST);
    // Only readers keep the feed of an ended job in memory, so its size counts for them.
    const chars = feed.ending === null ? 0 : textLength(feed);
    if (chars > LARGE_RESPONSE_CHARS) c.get("limits").holdStream(response, chars);
    return streamFeed(deps, { response, identity, feed, encoder: jobEvents, after });
  });
});

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

/** Returns the output so far; undefined before any output, and for Cargos that output only at the end. */
function producedSoFar(feed: Feed): unknown {
  const image = lastOf(feed, "image");
  if (image !== undefined) return { format: image.format, data: image.data };
  return lastOf(feed, "token") === undefined ? undefined : feed.text();
}

function lastOf<T extends FeedItem["type"]>({ items }: Feed, type: T): Extract<FeedItem, { type: T }> | undefined {
  return items.findLast((item): item is Extract<FeedItem, { type: T }> => item.type === type);
}

function textLength({ items }: Feed): number {
  return items.reduce((chars, item) => chars + (item.type === "token" ? item.content.length : 0), 0);
}

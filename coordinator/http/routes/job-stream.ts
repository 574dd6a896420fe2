import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { FEED_START, parsePosition } from "../../jobs/feed-position.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { jobEvents } from "../streaming/event-encoder.ts";
import { jobEventSchema } from "../schemas/event-schemas.ts";
import { LARGE_ANSWER_CHARS } from "../middleware/json-answer.ts";
import type { Feed } from "../../jobs/feed.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { eventStream, failures } from "../schemas/responses.ts";
import { streamFeed } from "../streaming/stream-feed.ts";
import { SSE_HEADERS } from "../streaming/sse.ts";

const POSITION_LOST =
  "The coordinator lost output delivered before this event: discard all earlier events and read the stream again without the id";

const streamRoute = createRoute({
  operationId: "streamJob",
  method: "get",
  path: `${API_BASE}/jobs/{id}/stream`,
  summary: "Stream a job's output while it is produced",
  description:
    "Last-Event-ID continues after the event with that id, without gap or repeat; a job that has ended replays. " +
    "If a crash of the coordinator lost output that was delivered, the stream ends without `done` or `error`, and the id gets " +
    "422 position_lost: discard all earlier events and read the stream again without the id.",
  request: {
    params: z.object({ id: z.string() }),
    query: z.object({ last_event_id: z.string().optional() }),
    headers: z.object({ "last-event-id": z.string().optional() }),
  },
  responses: {
    200: { description: "Server-Sent Events; the data of each is a JobEvent", content: eventStream(jobEventSchema) },
    204: { description: "The job has no events after that id" },
    ...failures(404, 410, 422, 503),
  },
});

export function serveJobStream(app: HttpApp, deps: HttpDeps): void {
  const { jobs } = deps;
  serveScoped(app, deps, "read", streamRoute, async ({ c, identity, params, query }) => {
    const { accountId } = identity;
    await jobs.assertOwn(accountId, params.id);
    const lastEventId = c.req.header("last-event-id") ?? query.last_event_id;
    const after = (lastEventId === undefined ? undefined : parsePosition(lastEventId)) ?? FEED_START;
    // 204 tells an EventSource not to reconnect.
    if (after.ended) return c.body(null, 204);
    if (c.req.method === "HEAD") return c.body(null, 200, SSE_HEADERS);
    const response = c.env.outgoing;
    // Before the feed, which is read whole for a job that has ended. The place is freed with the answer, whatever it is.
    await c.get("limits").openStream(identity, response);
    const feed = await jobs.openFeed(accountId, params.id, after);
    if (feed.hasLost(after)) throw new ServiceError("position_lost", POSITION_LOST);
    // The feed of an ended job is in memory for its readers alone.
    const chars = feed.ending === null ? 0 : textLength(feed);
    if (chars > LARGE_ANSWER_CHARS) c.get("limits").holdStream(response, chars);
    return streamFeed(deps, { response, identity, feed, encoder: jobEvents, after });
  });
}

function textLength({ items }: Feed): number {
  return items.reduce((chars, item) => chars + (item.type === "token" ? item.content.length : 0), 0);
}

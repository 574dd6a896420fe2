import { createRoute, z } from "@hono/zod-openapi";
import { MAX_ANNOUNCEMENT_CHARS, MAX_ANNOUNCEMENTS } from "../../operators/announcements.ts";
import { ANNOUNCEMENT_LEVELS } from "../../store/accounts/operators.ts";
import { serveOperator, servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { announcementSchema, presentAnnouncement } from "../schemas/operator-schemas.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { timeSchema } from "../schemas/wire-units.ts";
import { actorOf, oneLine } from "./operator-actor.ts";

const listRoute = createRoute({
  operationId: "listAnnouncements",
  method: "get",
  path: `${API_BASE}/announcements`,
  summary: "What the operators tell everybody, newest first",
  responses: { 200: json(data(z.array(announcementSchema)), `At most ${MAX_ANNOUNCEMENTS}`) },
});

const addRoute = createRoute({
  operationId: "addAnnouncement",
  method: "post",
  path: `${API_BASE}/operator/announcements`,
  summary: "Tell everybody something",
  request: jsonBody(
    z
      .object({
        level: z.enum(ANNOUNCEMENT_LEVELS).default("info"),
        text: oneLine(MAX_ANNOUNCEMENT_CHARS),
        until: timeSchema.nullable().optional().openapi({ description: "Left out or null: until it is removed" }),
      })
      .openapi("AddAnnouncement"),
  ),
  responses: { 201: json(data(announcementSchema), "The announcement"), ...failures(400) },
});

const removeRoute = createRoute({
  operationId: "removeAnnouncement",
  method: "delete",
  path: `${API_BASE}/operator/announcements/{id}`,
  summary: "Remove an announcement",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(data(z.object({ id: z.string(), removed: z.literal(true) })), "Removed"), ...failures(404) },
});

export function serveAnnouncements(app: HttpApp, deps: HttpDeps): void {
  const { announcements } = deps.operators;

  servePublic(app, listRoute, async ({ c }) => c.json({ data: (await announcements.list()).map(presentAnnouncement) }));

  serveOperator(app, deps, addRoute, async ({ c, identity, body: { level, text, until = null } }) => {
    const untilMs = until === null ? null : Date.parse(until);
    const made = await announcements.add(actorOf(c, identity, deps), { level, text, untilMs });
    return c.json({ data: presentAnnouncement(made) }, 201);
  });

  serveOperator(app, deps, removeRoute, async ({ c, identity, params: { id } }) => {
    await announcements.remove(actorOf(c, identity, deps), id);
    return c.json({ data: { id, removed: true } });
  });
}

import { z } from "@hono/zod-openapi";
import { MAX_ANNOUNCEMENT_CHARS, MAX_ANNOUNCEMENTS } from "../../operators/announcements.ts";
import { ANNOUNCEMENT_LEVELS } from "../../store/accounts/operators.ts";
import { announcementSchema, presentAnnouncement } from "../schemas/operator-schemas.ts";
import { data, json } from "../schemas/responses.ts";
import { timeSchema } from "../schemas/wire-units.ts";
import { actorOf, oneLine } from "./operator-actor.ts";
import { routeGroup } from "../route-group.ts";

export const announcementRoutes = routeGroup("/announcements", { tag: "Service" }, (routes, { operators }) => {
  routes.get("", {
    id: "listAnnouncements",
    is: "List announcements of the operators, newest first",
    access: "public",
    responses: { 200: json(data(z.array(announcementSchema)), `At most ${MAX_ANNOUNCEMENTS}`) },
  })(async () => ({ data: (await operators.announcements.list()).map(presentAnnouncement) }));
});

export const operatorAnnouncementRoutes = routeGroup("/operator/announcements", { tag: "Operator" }, (routes, deps) => {
  const { announcements } = deps.operators;

  routes.post("", {
    id: "addAnnouncement",
    is: "Publish an announcement",
    access: "operator",
    body: z
      .object({
        level: z.enum(ANNOUNCEMENT_LEVELS).default("info"),
        text: oneLine(MAX_ANNOUNCEMENT_CHARS),
        until: timeSchema
          .nullable()
          .optional()
          .describe("When the announcement expires. If omitted or null, it is shown until an operator removes it"),
      })
      .openapi("AddAnnouncement"),
    responses: { 201: json(data(announcementSchema), "The announcement") },
    fails: [400],
  })(async ({ c, identity, body: { level, text, until = null } }) => {
    const untilMs = until === null ? null : Date.parse(until);
    const created = await announcements.add(actorOf(c, identity, deps), { level, text, untilMs });
    return { data: presentAnnouncement(created) };
  });

  routes.delete("/{id}", {
    id: "removeAnnouncement",
    is: "Remove an announcement",
    access: "operator",
    responses: { 200: json(data(z.object({ id: z.string(), removed: z.literal(true) })), "Removed") },
    fails: [404],
  })(async ({ c, identity, params: { id } }) => {
    await announcements.remove(actorOf(c, identity, deps), id);
    return { data: { id, removed: true } };
  });
});

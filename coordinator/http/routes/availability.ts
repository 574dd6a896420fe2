import { createRoute, z } from "@hono/zod-openapi";
import { MAX_COUNTED } from "../../islands/cargo-availability.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { json } from "../schemas/responses.ts";

export const availableCargoSchema = z
  .object({
    slug: z.string(),
    islands: z.int().openapi({ description: "Connected Islands that may run it" }),
    ready: z.int().openapi({ description: "Those that have its model or image, or need none" }),
    free: z.int().openapi({ description: "Those with a free slot" }),
  })
  .openapi("AvailableCargo");

const availabilityRoute = createRoute({
  operationId: "listAvailability",
  method: "get",
  path: `${API_BASE}/availability`,
  summary: "Which Cargos Islands can run now",
  description:
    `Cargos that you can run and no Island can are left out: their jobs wait. At most 5 s old. Each coordinator counts at most ${MAX_COUNTED} ` +
    "Islands of a Cargo. What one job waits for is in its detail.",
  responses: {
    200: json(
      z.object({
        data: z.array(availableCargoSchema),
        is_complete: z
          .boolean()
          .openapi({ description: "False: a coordinator did not answer; its Islands are missing" }),
      }),
      "By slug",
    ),
  },
});

export function serveAvailability(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "read", availabilityRoute, async ({ c, identity }) => {
    const { cargos, isComplete } = await deps.availability.of(identity.accountId);
    return c.json({ data: [...cargos], is_complete: isComplete });
  });
}

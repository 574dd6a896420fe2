import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { REGISTRATIONS } from "../../config/exposure.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { data, failures, json } from "../schemas/responses.ts";
import { creditsSchema, presentCredits } from "../schemas/wire-units.ts";
import { availableCargoSchema } from "./availability.ts";

/** Public Cargos run on the Islands of any account. */
const NO_ACCOUNT = "";

const countsSchema = z.object({
  islands_online: z.int(),
  cargos: z
    .array(availableCargoSchema)
    .openapi({ description: "Public Cargos that can run now, by slug; GET /cargos lists all" }),
  is_complete: z.boolean().openapi({ description: "False: a coordinator did not answer; its Islands are missing" }),
});

const networkSchema = countsSchema
  .extend({
    registration: z.enum(REGISTRATIONS).openapi({
      description: "Who may open an account: everybody, whoever proves an e-mail address, or only the operator",
    }),
    new_account_credits: creditsSchema.openapi({ description: "What a new account gets" }),
  })
  .openapi("Network");

const networkRoute = createRoute({
  operationId: "getNetwork",
  method: "get",
  path: `${API_BASE}/network`,
  summary: "The network as visitors see it, over all coordinators",
  description: "Counts are at most 10 s old.",
  responses: { 200: json(data(networkSchema), "The network"), ...failures(404) },
});

/** Serves what the public page shows besides catalog and announcements, which have endpoints of their own. */
export function serveNetwork(app: HttpApp, deps: HttpDeps): void {
  servePublic(app, networkRoute, async ({ c }) => {
    const { publicPage } = deps.options;
    if (publicPage === null) {
      throw new ServiceError("not_found", "The operator shows visitors nothing of this network (setting public_page)");
    }
    const accounts = {
      registration: publicPage.registration,
      new_account_credits: presentCredits(publicPage.newAccountMicro),
    };
    return c.json({ data: { ...(await countNetwork(deps)), ...accounts } });
  });
}

async function countNetwork({ operators, availability }: HttpDeps): Promise<z.infer<typeof countsSchema>> {
  const [{ islands, coordinators }, { cargos, isComplete }] = await Promise.all([
    operators.network.overview(),
    availability.of(NO_ACCOUNT),
  ]);
  return {
    islands_online: islands.online,
    cargos: [...cargos],
    is_complete: isComplete && coordinators.every(({ figures }) => figures !== null),
  };
}

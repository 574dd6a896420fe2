import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { REGISTRATIONS } from "../../config/exposure.ts";
import type { HttpDeps } from "../http-deps.ts";
import { data, json } from "../schemas/responses.ts";
import { creditsSchema, presentCredits } from "../schemas/wire-units.ts";
import { availableCargoSchema } from "./cargos.ts";
import { routeGroup } from "../route-group.ts";

/** No account: counts only public Cargos, which run on the Islands of all accounts. */
const NO_ACCOUNT = "";

const countsSchema = z.object({
  islands_online: z.int(),
  cargos: z.array(availableCargoSchema).describe("Public Cargos that can run now, by slug; GET /cargos lists all"),
  is_complete: z.boolean().describe("False: a coordinator did not reply, and its Islands are missing"),
});

const networkSchema = countsSchema
  .extend({
    registration: z
      .enum(REGISTRATIONS)
      .describe("Registration: open to anyone, open with a confirmed e-mail address, or only by the operator"),
    new_account_credits: creditsSchema.describe("Credits of a new account"),
  })
  .openapi("Network");

/** Route of the public page's data, except catalog and announcements, which have their own endpoints. */
export const networkRoutes = routeGroup("/network", { tag: "Service" }, (routes, deps) => {
  routes.get("", {
    id: "getNetwork",
    is: "Get public facts about the network, over all coordinators",
    about: "Counts are at most 10 s old.",
    access: "public",
    responses: { 200: json(data(networkSchema), "The network") },
    fails: [404],
  })(async () => {
    const { publicPage } = deps.options;
    if (publicPage === null) {
      throw new ServiceError(
        "not_found",
        "The public page of this network is off; its operator can enable it with the setting public_page",
      );
    }
    const accounts = {
      registration: publicPage.registration,
      new_account_credits: presentCredits(publicPage.newAccountMicro),
    };
    return { data: { ...(await countNetwork(deps)), ...accounts } };
  });
});

async function countNetwork({ operators, availability }: HttpDeps): Promise<z.infer<typeof countsSchema>> {
  const [{ islands, coordinators }, { cargos, isComplete }] = await Promise.all([
    operators.network.overview(),
    availability.of(NO_ACCOUNT),
  ]);
  return {
    islands_online: islands.online,
    cargos: [...cargos],
    is_complete: isComplete && coordinators.every(({ metrics }) => metrics !== null),
  };
}

import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { REGISTRATIONS } from "../../config/exposure.ts";
import { data, json } from "../schemas/responses.ts";
import { creditsSchema, presentCredits } from "../schemas/wire-units.ts";
import { availableCargoSchema, isCompleteSchema } from "./cargos.ts";
import { routeGroup } from "../route-group.ts";

/** Account id that owns no Cargo, so that only public Cargos are counted. */
const NO_ACCOUNT = "";

const networkSchema = z
  .object({
    islands_online: z.int(),
    cargos: z
      .array(availableCargoSchema)
      .describe("Public Cargos that Islands can run now, by slug. GET /cargos lists all Cargos"),
    is_complete: isCompleteSchema,
    registration: z
      .enum(REGISTRATIONS)
      .describe("Registration of accounts: open to anyone, open with a confirmed e-mail address, or closed"),
    new_account_credits: creditsSchema.describe("Credits of a new account"),
  })
  .openapi("Network");

export const networkRoutes = routeGroup("/network", { tag: "Service" }, (routes, deps) => {
  const { operators, availability } = deps;
  routes.get("", {
    id: "getNetwork",
    is: "Get public facts about the network, with all coordinators",
    about: "Counts are at most 10 s old.",
    access: "public",
    responses: { 200: json(data(networkSchema), "The network") },
    fails: [404],
  })(async () => {
    const { publicPage } = deps.options;
    if (publicPage === null) {
      throw new ServiceError(
        "not_found",
        "The public page of this network is off. Its operator can enable it with the setting public_page",
      );
    }
    const [{ islands, coordinators }, { cargos, isComplete }] = await Promise.all([
      operators.network.overview(),
      availability.of(NO_ACCOUNT),
    ]);
    return {
      data: {
        islands_online: islands.online,
        cargos: [...cargos],
        is_complete: isComplete && coordinators.every(({ metrics }) => metrics !== null),
        registration: publicPage.registration,
        new_account_credits: presentCredits(publicPage.newAccountMicro),
      },
    };
  });
});

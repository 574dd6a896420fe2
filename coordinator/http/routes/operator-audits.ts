import { z } from "@hono/zod-openapi";
import { STANDINGS } from "../../credits/standing.ts";
import { MAX_REPEATED_AUDITS } from "../../operators/operator-audits.ts";
import { MAX_REASON_CHARS } from "../../operators/operator-accounts.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { knownStandingSchema, presentKnownStanding } from "../schemas/standing-schemas.ts";
import { actorOf, oneLine } from "./operator-actor.ts";
import { routeGroup } from "../route-group.ts";

export const operatorAuditRoutes = routeGroup("/operator", { tag: "Operator" }, (routes, deps) => {
  const { audits, standings } = deps.operators;

  routes.get("/standings", {
    id: "listStandings",
    is: "List the standings of owners with Cargos, the latest change first",
    about: "An owner that is not listed is new. Islands of operators are always trusted.",
    access: "operator",
    query: z.object({
      ...pageQuery(),
      account: z.string().optional().describe("Id of an account"),
      state: z.enum(STANDINGS).optional(),
    }),
    responses: { 200: json(pageOf(knownStandingSchema), "A page of standings") },
  })(async ({ query: { account: accountId, state, ...page } }) => {
    const { standings: listed, total } = await standings.list({ accountId, state }, page);
    return presentPage(listed.map(presentKnownStanding), total, page);
  });

  routes.put("/standings/{account}/{cargo}", {
    id: "setStanding",
    is: "Set the standing of an owner with a Cargo",
    about:
      "`proven` and `trusted` pay the owner's held earnings. `quarantined` refunds their clients, and the owner's Islands get no more jobs of the Cargo. Other coordinators apply the change within a second. An operator's account is refused (400).",
    access: "operator",
    body: z
      .object({
        state: z.enum(STANDINGS),
        reason: oneLine(MAX_REASON_CHARS).describe("Reason that the owner sees"),
      })
      .openapi("SetStanding"),
    responses: { 200: json(data(knownStandingSchema), "The standing") },
    fails: [400, 404],
  })(async ({ c, identity, params: { account, cargo }, body }) => {
    return { data: presentKnownStanding(await standings.set(actorOf(c, identity, deps), account, cargo, body)) };
  });

  routes.post("/jobs/{id}/audit", {
    id: "auditJob",
    is: "Audit an ended job again, or for the first time",
    about:
      "`verification` of the job has the verdict. A consistent answer counts only in the first audit of a job. Refused (400) for a job that has not ended, whose Island's owner was paid at once, whose client refused audits, or whose answer cannot be judged: JSON, tools, reasoning, images, or a text of several Islands.",
    access: "operator",
    responses: { 202: json(data(z.object({ id: z.string() })), "The audit is due") },
    fails: [400, 404, 410],
  })(async ({ c, identity, params: { id } }) => {
    await audits.ofJob(actorOf(c, identity, deps), id);
    return { data: { id } };
  });

  routes.post("/islands/{id}/audit", {
    id: "auditIsland",
    is: "Audit the latest jobs of an Island again",
    about: `Audits those of its latest ${MAX_REPEATED_AUDITS} jobs with a \`verification\` whose answer can be judged.`,
    access: "operator",
    responses: {
      202: json(
        data(z.object({ id: z.string(), jobs: z.array(z.string()).describe("Ids of the jobs") })),
        "The audits are due",
      ),
    },
    fails: [400, 404],
  })(async ({ c, identity, params: { id } }) => {
    return { data: { id, jobs: await audits.ofIsland(actorOf(c, identity, deps), id) } };
  });
});

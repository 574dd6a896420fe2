import { z } from "@hono/zod-openapi";
import {
  auditLineSchema,
  knownJobSchema,
  overviewSchema,
  presentAuditLine,
  presentKnownJob,
  presentOverview,
  presentQueueLine,
  queueLineSchema,
} from "../schemas/operator-schemas.ts";
import { statesSchema } from "../schemas/job-schemas.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";

const settingSchema = z
  .object({
    key: z.string(),
    value: z.string().nullable().describe("Value in the key's units; null: unset; (hidden): a secret is set"),
    source: z.enum(["flag", "environment", "file", "default"]),
    default: z.string().describe("Default, or the meaning of an unset key"),
    environment: z.string().describe("Name of its environment variable"),
    allowed: z.string(),
    meaning: z.string(),
  })
  .openapi("SettingInForce");

export const operatorNetworkRoutes = routeGroup("/operator", { tag: "Operator" }, (routes, deps) => {
  const { network, jobs, audit, settings } = deps.operators;

  routes.get("/overview", {
    id: "getNetworkOverview",
    is: "Get an overview of the network, over all coordinators",
    access: "operator",
    responses: { 200: json(data(overviewSchema), "The overview") },
  })(async () => ({ data: presentOverview(await network.overview()) }));

  routes.get("/queue", {
    id: "getNetworkQueue",
    is: "List waiting jobs by Cargo and reason, over all coordinators, most jobs first",
    access: "operator",
    responses: {
      200: json(
        z.object({
          data: z.array(queueLineSchema),
          is_complete: z.boolean().describe("False: a coordinator did not reply, and its jobs are missing"),
        }),
        "The queue; each coordinator reports its 256 entries with the most jobs",
      ),
    },
  })(async () => {
    const { queue, coordinators } = await network.overview();
    return {
      data: queue.map(presentQueueLine),
      is_complete: coordinators.every(({ metrics }) => metrics !== null),
    };
  });

  routes.get("/jobs", {
    id: "listNetworkJobs",
    is: "List the jobs of all accounts, newest first",
    about: "Searches the network's latest 100,000 jobs, or all jobs of an account if only `account` is given.",
    access: "operator",
    query: z.object({
      ...pageQuery(),
      status: statesSchema.optional(),
      workload: z.string().optional().describe("Cargo slug"),
      account: z.string().optional().describe("Id of an account"),
      island: z.string().optional().describe("Id of an Island"),
    }),
    responses: { 200: json(pageOf(knownJobSchema), "A page of jobs") },
  })(async ({ query }) => {
    const { status: states, workload: slug, account: accountId, island: islandId, ...page } = query;
    const { jobs: listed, total } = await jobs.jobs({ states, slug, accountId, islandId }, page);
    return presentPage(listed.map(presentKnownJob), total, page);
  });

  routes.get("/audit", {
    id: "listAuditLog",
    is: "List operators' actions in the API and the CLI, newest first",
    about: "Entries are never changed or removed.",
    access: "operator",
    query: z.object({
      ...pageQuery(),
      actor: z.string().optional(),
      action: z.string().optional(),
      target: z.string().optional().describe("Id of the action's target"),
    }),
    responses: { 200: json(pageOf(auditLineSchema), "A page of the audit log") },
  })(async ({ query }) => {
    const { actor, action, target: targetId, ...page } = query;
    const { lines, total } = await audit.list({ actor, action, targetId }, page);
    return presentPage(lines.map(presentAuditLine), total, page);
  });

  routes.get("/settings", {
    id: "listSettings",
    is: "List the settings of this coordinator, without secrets",
    access: "operator",
    responses: { 200: json(data(z.array(settingSchema)), "The settings") },
  })(() => {
    const data = settings.map(({ key, shown: value, source, fallback, env, allowed, meaning }) => {
      return { key, value, source, default: fallback, environment: env, allowed, meaning };
    });
    return { data };
  });
});

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
    value: z
      .string()
      .nullable()
      .describe("Value in the unit of the key; `(hidden)` for a secret; null if the setting is not set"),
    source: z.enum(["flag", "environment", "file", "default"]),
    default: z.string().describe("Default value, or the meaning if the setting is not set"),
    environment: z.string().describe("Name of the environment variable"),
    allowed: z.string(),
    meaning: z.string(),
  })
  .openapi("SettingInForce");

export const operatorNetworkRoutes = routeGroup("/operator", { tag: "Operator" }, (routes, deps) => {
  const { network, jobs, audit, settings } = deps.operators;

  routes.get("/overview", {
    id: "getNetworkOverview",
    is: "Get an overview of the network, with all coordinators",
    access: "operator",
    responses: { 200: json(data(overviewSchema), "The overview") },
  })(async () => ({ data: presentOverview(await network.overview()) }));

  routes.get("/queue", {
    id: "getNetworkQueue",
    is: "Count the waiting jobs of all coordinators by Cargo and reason, most jobs first",
    access: "operator",
    responses: {
      200: json(
        z.object({
          data: z.array(queueLineSchema),
          is_complete: z.boolean().describe("False if a coordinator did not reply, so that its jobs are missing"),
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
    about:
      "Searches the network's most recent 100,000 jobs, or all jobs of an account if `account` is the only filter.",
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

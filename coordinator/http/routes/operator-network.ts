import { createRoute, z } from "@hono/zod-openapi";
import { JOB_STATES } from "../../../shared/job-state.ts";
import { serveOperator } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
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
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";

const overviewRoute = createRoute({
  operationId: "getNetworkOverview",
  method: "get",
  path: `${API_BASE}/operator/overview`,
  summary: "The network at a glance, over all coordinators",
  responses: { 200: json(data(overviewSchema), "The overview") },
});

const queueRoute = createRoute({
  operationId: "getNetworkQueue",
  method: "get",
  path: `${API_BASE}/operator/queue`,
  summary: "Waiting jobs by Cargo and reason, over all coordinators; most jobs first",
  responses: {
    200: json(
      z.object({
        data: z.array(queueLineSchema),
        is_complete: z.boolean().openapi({ description: "False: a coordinator did not answer" }),
      }),
      "The queue; each coordinator tells of the 256 kinds of which most wait",
    ),
  },
});

const jobsRoute = createRoute({
  operationId: "listNetworkJobs",
  method: "get",
  path: `${API_BASE}/operator/jobs`,
  summary: "List the jobs of all accounts, newest first",
  description: "Looks through the network's latest 100,000 jobs, or with `account` alone through all of that account.",
  request: {
    query: z.object({
      ...pageQuery(),
      status: z
        .string()
        .transform((list) => list.split(",").map((state) => state.trim()))
        .pipe(z.array(z.enum(JOB_STATES)))
        .openapi({ type: "string", description: `Comma-separated list of ${JOB_STATES.join(", ")}` })
        .optional(),
      workload: z.string().optional().openapi({ description: "Cargo slug" }),
      account: z.string().optional().openapi({ description: "Id of an account" }),
      island: z.string().optional().openapi({ description: "Id of an Island" }),
    }),
  },
  responses: { 200: json(pageOf(knownJobSchema), "One page of jobs") },
});

const auditRoute = createRoute({
  operationId: "listAuditLog",
  method: "get",
  path: `${API_BASE}/operator/audit`,
  summary: "List what operators did, by the API and by commands, newest first",
  description: "Lines are never changed or removed.",
  request: {
    query: z.object({
      ...pageQuery(),
      actor: z.string().optional(),
      action: z.string().optional(),
      target: z.string().optional().openapi({ description: "Id of what was acted on" }),
    }),
  },
  responses: { 200: json(pageOf(auditLineSchema), "One page of the log") },
});

const settingSchema = z
  .object({
    key: z.string(),
    value: z
      .string()
      .nullable()
      .openapi({ description: "In the key's units; null: unset; (hidden): a secret that is set" }),
    source: z.enum(["flag", "environment", "file", "default"]),
    default: z.string().openapi({ description: "Or what an unset key means" }),
    environment: z.string().openapi({ description: "Name of its variable" }),
    allowed: z.string(),
    meaning: z.string(),
  })
  .openapi("SettingInForce");

const settingsRoute = createRoute({
  operationId: "listSettings",
  method: "get",
  path: `${API_BASE}/operator/settings`,
  summary: "The settings in force at the coordinator that answers, without secrets",
  responses: { 200: json(data(z.array(settingSchema)), "All settings") },
});

/** What operators see of the whole network. */
export function serveOperatorNetwork(app: HttpApp, deps: HttpDeps): void {
  const { network, jobs, audit, settings } = deps.operators;

  serveOperator(app, deps, overviewRoute, async ({ c }) => c.json({ data: presentOverview(await network.overview()) }));

  serveOperator(app, deps, queueRoute, async ({ c }) => {
    const { queue, coordinators } = await network.overview();
    return c.json({
      data: queue.map(presentQueueLine),
      is_complete: coordinators.every(({ figures }) => figures !== null),
    });
  });

  serveOperator(app, deps, jobsRoute, async ({ c, query }) => {
    const { limit, offset, status: states, workload: slug, account: accountId, island: islandId } = query;
    const listed = await jobs.jobs({ states, slug, accountId, islandId }, { limit, offset });
    return c.json({ data: listed.jobs.map(presentKnownJob), meta: { total: listed.total, limit, offset } });
  });

  serveOperator(app, deps, auditRoute, async ({ c, query }) => {
    const { limit, offset, actor, action, target: targetId } = query;
    const { lines, total } = await audit.list({ actor, action, targetId }, { limit, offset });
    return c.json({ data: lines.map(presentAuditLine), meta: { total, limit, offset } });
  });

  serveOperator(app, deps, settingsRoute, ({ c }) => {
    const shown = settings.map(({ key, shown: value, source, fallback, env, allowed, meaning }) => {
      return { key, value, source, default: fallback, environment: env, allowed, meaning };
    });
    return c.json({ data: shown });
  });
}

import { createRoute, z } from "@hono/zod-openapi";
import { ValidationError } from "../../../shared/errors.ts";
import { DAY_MS, utcDayOf } from "../../store/ledger/host-figures.ts";
import { USAGE_KINDS, type UsageFilter, type UsageGroup, type UsageLine } from "../../store/ledger/usage.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { metaSchema, pageQuery } from "../schemas/pagination.ts";
import { json } from "../schemas/responses.ts";
import { creditsSchema, presentCredits } from "../schemas/wire-units.ts";

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
/** As the API calls what lines are kept apart by. */
const GROUPS: Readonly<Record<string, UsageGroup>> = { day: "day", workload: "cargo", api_key: "key" };
const GROUP_NAMES = Object.keys(GROUPS);
const ANY_GROUP = `(${GROUP_NAMES.join("|")})`;

const daySchema = z.iso.date();

const lineSchema = z
  .object({
    day: daySchema.nullable().openapi({ description: "When the jobs ended, in UTC" }),
    kind: z.enum(USAGE_KINDS).openapi({ description: "spent: charged for jobs. earned: with Islands of the account" }),
    workload_slug: z.string().nullable(),
    api_key_id: z
      .string()
      .nullable()
      .openapi({ description: "The key that submitted the jobs; null for a session, and for what is earned" }),
    jobs: z.int().openapi({ description: "Jobs that cost or earned something" }),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    credits: creditsSchema,
  })
  .openapi("UsageLine");

const usageRoute = createRoute({
  operationId: "getUsage",
  method: "get",
  path: `${API_BASE}/account/usage`,
  summary: "What the account spent and earned, by day, Cargo and API key",
  description:
    "By day, newest first; then by kind, Cargo and key. It has all charges and earnings of the ledger; days that ended more than 400 days " +
    "ago are left out. A member that lines are not grouped by is null.",
  request: {
    query: z.object({
      from: daySchema
        .optional()
        .openapi({ description: `First day (UTC); ${DEFAULT_DAYS} days with the last one unless told` }),
      to: daySchema
        .optional()
        .openapi({ description: `Last day, at most ${MAX_DAYS} days with the first one; today unless told` }),
      by: z
        .string()
        .regex(new RegExp(`^(${ANY_GROUP}(,${ANY_GROUP})*)?$`), `takes a list of ${GROUP_NAMES.join(", ")}`)
        .default(GROUP_NAMES.join(","))
        .openapi({ description: `Comma-separated list of ${GROUP_NAMES.join(", ")}; empty: only by kind` }),
      kind: z.enum(USAGE_KINDS).optional(),
      workload: z.string().max(200).optional().openapi({ description: "Cargo slug" }),
      api_key: z.string().max(200).optional().openapi({ description: "Id of a key" }),
      ...pageQuery(100),
    }),
  },
  responses: {
    200: json(
      z.object({
        data: z.array(lineSchema),
        meta: metaSchema.extend({
          from: daySchema,
          to: daySchema,
          spent: creditsSchema.openapi({ description: "Of all pages" }),
          earned: creditsSchema.openapi({ description: "Of all pages" }),
        }),
      }),
      "Lines of usage",
    ),
  },
});

export function serveUsage(app: HttpApp, deps: HttpDeps): void {
  const { store, clock } = deps;
  serveScoped(app, deps, "read", usageRoute, async ({ c, identity, query }) => {
    const { limit, offset, kind, workload: slug, api_key: keyId } = query;
    const range = rangeOf(query, utcDayOf(clock.now()));
    const groups = query.by.split(",").flatMap((name) => GROUPS[name] ?? []);
    const filter: UsageFilter = { ...range, kind, slug, keyId };
    const report = await store.usage.read(identity.accountId, filter, groups, { limit, offset });
    const days = { from: dateOf(range.fromDay), to: dateOf(range.toDay) };
    const sums = { spent: presentCredits(report.spentMicro), earned: presentCredits(report.earnedMicro) };
    return c.json({
      data: report.lines.map(presentLine),
      meta: { total: report.total, limit, offset, ...days, ...sums },
    });
  });
}

/** @throws {ValidationError} */
function rangeOf(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: number,
): Pick<UsageFilter, "fromDay" | "toDay"> {
  const first = from === undefined ? null : utcDayOf(Date.parse(from));
  const last = to === undefined ? null : utcDayOf(Date.parse(to));
  const toDay = last ?? Math.max(today, first ?? today);
  const fromDay = first ?? toDay - DEFAULT_DAYS + 1;
  if (fromDay > toDay) throw new ValidationError([{ path: "to", message: "is before from" }]);
  if (toDay - fromDay >= MAX_DAYS) {
    throw new ValidationError([{ path: "from", message: `is more than ${MAX_DAYS} days before the last day` }]);
  }
  return { fromDay, toDay };
}

function presentLine(line: UsageLine): z.infer<typeof lineSchema> {
  return {
    day: line.day === null ? null : dateOf(line.day),
    kind: line.kind,
    workload_slug: line.slug,
    api_key_id: line.keyId,
    jobs: line.jobs,
    prompt_tokens: line.promptTokens,
    completion_tokens: line.completionTokens,
    credits: presentCredits(line.micro),
  };
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, "2026-01-01".length);
}

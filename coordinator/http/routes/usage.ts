import { z } from "@hono/zod-openapi";
import { ValidationError } from "../../../shared/errors.ts";
import { DAY_MS, utcDayOf } from "../../store/ledger/host-metrics.ts";
import { USAGE_KINDS, type UsageFilter, type UsageGroup, type UsageLine } from "../../store/ledger/usage.ts";
import { metaSchema, pageQuery } from "../schemas/pagination.ts";
import { json } from "../schemas/responses.ts";
import { creditsSchema, presentCredits } from "../schemas/wire-units.ts";
import { routeGroup } from "../route-group.ts";

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const GROUPS: Readonly<Record<string, UsageGroup>> = { day: "day", workload: "cargo", api_key: "key" };
const GROUP_NAMES = Object.keys(GROUPS);
const ANY_GROUP = `(${GROUP_NAMES.join("|")})`;

const daySchema = z.iso.date();

const lineSchema = z
  .object({
    day: daySchema.nullable().describe("UTC day on which the jobs ended"),
    kind: z.enum(USAGE_KINDS).describe("`spent`: charged for jobs. `earned`: earned by Islands of the account"),
    workload_slug: z.string().nullable(),
    api_key_id: z.string().nullable().describe("API key that submitted the jobs; null for a session and for earnings"),
    jobs: z.int().describe("Number of jobs with a charge or an earning"),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    credits: creditsSchema,
  })
  .openapi("UsageLine");

export const usageRoutes = routeGroup("/account/usage", { tag: "Account" }, (routes, deps) => {
  const { store, clock } = deps;
  routes.get("", {
    id: "getUsage",
    is: "Get spending and earnings by day, Cargo and API key",
    about:
      "Lines are sorted by day, newest first, then by kind, Cargo and key. They cover all charges and earnings of the last 400 days. A member is null if `by` does not name it.",
    access: "read",
    query: z.object({
      from: daySchema.optional().describe(`First day, in UTC. Default: ${DEFAULT_DAYS} days up to the last day`),
      to: daySchema.optional().describe(`Last day, in UTC; the range has at most ${MAX_DAYS} days. Default: today`),
      by: z
        .string()
        .regex(
          new RegExp(`^(${ANY_GROUP}(,${ANY_GROUP})*)?$`),
          `must be a comma-separated list of ${GROUP_NAMES.join(", ")}`,
        )
        .default(GROUP_NAMES.join(","))
        .describe(`Comma-separated list of ${GROUP_NAMES.join(", ")}; an empty list groups only by kind`),
      kind: z.enum(USAGE_KINDS).optional(),
      workload: z.string().max(200).optional().describe("Cargo slug"),
      api_key: z.string().max(200).optional().describe("Id of an API key"),
      ...pageQuery(100),
    }),
    responses: {
      200: json(
        z.object({
          data: z.array(lineSchema),
          meta: metaSchema.extend({
            from: daySchema,
            to: daySchema,
            spent: creditsSchema.describe("Credits spent, over all pages"),
            earned: creditsSchema.describe("Credits earned, over all pages"),
          }),
        }),
        "A page of usage lines",
      ),
    },
  })(async ({ identity, query }) => {
    const { limit, offset, kind, workload: slug, api_key: keyId } = query;
    const range = rangeOf(query, utcDayOf(clock.now()));
    const groups = query.by.split(",").flatMap((name) => GROUPS[name] ?? []);
    const filter: UsageFilter = { ...range, kind, slug, keyId };
    const report = await store.usage.read(identity.accountId, filter, groups, { limit, offset });
    const days = { from: dateOf(range.fromDay), to: dateOf(range.toDay) };
    const sums = { spent: presentCredits(report.spentMicro), earned: presentCredits(report.earnedMicro) };
    return {
      data: report.lines.map(presentLine),
      meta: { total: report.total, limit, offset, ...days, ...sums },
    };
  });
});

/** Returns the range of days that the query requests, or the default range. @throws {ValidationError} */
function rangeOf(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: number,
): Pick<UsageFilter, "fromDay" | "toDay"> {
  const first = from === undefined ? null : utcDayOf(Date.parse(from));
  const last = to === undefined ? null : utcDayOf(Date.parse(to));
  const toDay = last ?? Math.max(today, first ?? today);
  const fromDay = first ?? toDay - DEFAULT_DAYS + 1;
  if (fromDay > toDay) throw new ValidationError([{ path: "to", message: "must not be before from" }]);
  if (toDay - fromDay >= MAX_DAYS) {
    throw new ValidationError([{ path: "from", message: `must be less than ${MAX_DAYS} days before the last day` }]);
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

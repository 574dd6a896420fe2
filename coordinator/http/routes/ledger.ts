import { createRoute, z } from "@hono/zod-openapi";
import type { LedgerLine } from "../../credits/account-lines.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "../schemas/wire-units.ts";
import { json } from "../schemas/responses.ts";

const LINE_KINDS = ["grant", "hold", "charge", "release", "earning"] as const satisfies readonly LedgerLine["kind"][];

const lineSchema = z
  .object({
    id: z.int().openapi({ description: "Increases with time" }),
    kind: z.enum(LINE_KINDS).openapi({
      description:
        "grant: credits given. hold: set aside when a job is submitted. charge: taken from what was set aside. " +
        "release: set aside, not charged, and returned. earning: an Island of the account ran a job",
    }),
    amount: creditsSchema.openapi({ description: "Change of `credits`; negative: fewer" }),
    held: creditsSchema.openapi({ description: "Change of the credits set aside for unfinished jobs" }),
    balance: creditsSchema.openapi({ description: "`credits` afterwards" }),
    job_id: z.string().nullable().openapi({ description: "The lines of a job: its hold, charge, release or earning" }),
    batch_id: z
      .string()
      .nullable()
      .openapi({ description: "On the hold of a whole batch; its jobs are charged and released one by one" }),
    workload_slug: z.string().nullable().openapi({
      description:
        "Cargo of the job or the batch; null for a grant. The job of an earning is another account's, as a rule",
    }),
    created_at: timeSchema,
  })
  .openapi("LedgerLine");

const ledgerRoute = createRoute({
  operationId: "listLedger",
  method: "get",
  path: `${API_BASE}/account/ledger`,
  summary: "List changes of the account's credits, newest first",
  description:
    "`amount` of all lines adds up to the account's `credits`, `held` to the credits set aside for unfinished jobs.",
  request: { query: z.object(pageQuery()) },
  responses: {
    200: json(pageOf(lineSchema), "Lines of the ledger"),
  },
});

export function serveLedger(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "read", ledgerRoute, async ({ c, identity, query }) => {
    const { limit, offset } = query;
    const { lines, total } = await deps.store.ledger.list(identity.accountId, { limit, offset });
    return c.json({ data: lines.map(presentLine), meta: { total, limit, offset } });
  });
}

function presentLine(line: LedgerLine): z.infer<typeof lineSchema> {
  return {
    id: line.id,
    kind: line.kind,
    amount: presentCredits(line.micro),
    held: presentCredits(line.heldMicro),
    balance: presentCredits(line.balanceMicro),
    job_id: line.jobId,
    batch_id: line.batchId,
    workload_slug: line.slug,
    created_at: presentTime(line.atMs),
  };
}

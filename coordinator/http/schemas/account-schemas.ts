import { z } from "@hono/zod-openapi";
import { JOB_ERROR_CODES } from "../../../shared/errors.ts";
import { type Account, ROLES } from "../../store/accounts/accounts.ts";
import type { JobChange } from "../../events/change.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "./wire-units.ts";
import { islandSchema } from "./island-schemas.ts";
import { presentSummary, summarySchema } from "./job-schemas.ts";
import { overviewSchema } from "./operator-schemas.ts";

export const accountSchema = z
  .object({ id: z.string(), email: z.string(), credits: creditsSchema, role: z.enum(ROLES), created_at: timeSchema })
  .openapi("Account");

export function presentAccount({ id, email, balanceMicro, role, createdAtMs }: Account): z.infer<typeof accountSchema> {
  return { id, email, credits: presentCredits(balanceMicro), role, created_at: presentTime(createdAtMs) };
}

const resetEvent = z.object({ type: z.literal("reset") }).openapi("ResetEvent", {
  description:
    "First event of each stream, also sent when events may have been missed. Read your lists again; later changes follow as events",
});

const jobChangedEvent = summarySchema
  .extend({
    type: z.literal("job"),
    cargo: z.string().describe("Slug of the Cargo, the same as `workload_slug`"),
    code: z.enum(JOB_ERROR_CODES).optional().describe("Error code of a job that failed or timed out"),
    updated_at: timeSchema,
  })
  .openapi("JobChangedEvent", {
    description:
      "Sent when a job is new or its state changed. Contains the job's entry in GET /jobs, without workload_id and input",
  });

const islandChangedEvent = islandSchema
  .extend({ type: z.literal("island"), online: z.boolean().describe("False if the Island's status is `offline`") })
  .openapi("IslandChangedEvent", {
    description:
      "Sent when an Island connected, disconnected, was renamed or reported a change. Contains the Island's entry in GET /islands",
  });
const islandRemovedEvent = z
  .object({ type: z.literal("island_removed"), id: z.string() })
  .openapi("IslandRemovedEvent", { description: "The Island was removed from GET /islands" });

const balanceEvent = z
  .object({ type: z.literal("balance"), balance: creditsSchema })
  .openapi("BalanceEvent", { description: "The balance changed. `balance` is `credits` of GET /account" });

const accountChangedEvent = accountSchema.extend({ type: z.literal("account") }).openapi("AccountChangedEvent", {
  description:
    "The account's e-mail address, role, limits, API keys, sessions or Island tokens changed. The event carries `data` of GET /account. Reload any keys, sessions or tokens that you display",
});

const overviewEvent = overviewSchema.extend({ type: z.literal("overview") }).openapi("OverviewEvent", {
  description: "The overview, or the queue of GET /operator/queue, has changed. Sent only with `scope=network`",
});

/** Data of the events of `GET /account/events`. Source: decision 0034. */
export const accountEventSchema = z
  .discriminatedUnion("type", [
    resetEvent,
    jobChangedEvent,
    islandChangedEvent,
    islandRemovedEvent,
    balanceEvent,
    accountChangedEvent,
    overviewEvent,
  ])
  .openapi("AccountEvent", { description: "A change; `type` is the name of the event" });

export type AccountEvent = z.infer<typeof accountEventSchema>;

export function presentJobChange(change: JobChange): AccountEvent {
  const { code } = change;
  return {
    type: "job",
    ...presentSummary(change),
    cargo: change.slug,
    ...(code === null ? {} : { code }),
    updated_at: presentTime(change.atMs),
  };
}

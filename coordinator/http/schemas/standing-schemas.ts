import { z } from "@hono/zod-openapi";
import { PROVEN_AFTER, STANDINGS } from "../../credits/standing.ts";
import type { KnownStanding, OwnStanding } from "../../store/audits.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "./wire-units.ts";

const standingShape = {
  cargo: z.string().describe("Slug of the Cargo"),
  state: z
    .enum(STANDINGS)
    .describe(
      "`new`: each answer that can be judged is audited, and earnings are held. `proven`: some answers are audited, and earnings are held for at most a day. `trusted`: nothing is audited or held. `quarantined`: the owner's Islands get no jobs of the Cargo",
    ),
  streak: z.int().describe("Number of consistent audits in a row"),
  reason: z.string().nullable().describe("Reason of the last change by an operator, or of the quarantine; else null"),
};

export const standingSchema = z
  .object({
    ...standingShape,
    proven_after: z.int().describe("Number of consistent audits in a row after which a new owner is proven"),
    held_credits: creditsSchema.describe("Earnings that are held until audits confirm the owner's answers"),
    audits: z
      .object({ consistent: z.int(), inconsistent: z.int(), unclear: z.int() })
      .describe("Numbers of audits by verdict, for jobs of the last 90 days"),
  })
  .openapi("Standing", { description: "What audits found out about the owner's Islands with one Cargo" });

export const knownStandingSchema = z
  .object({
    account_id: z.string().describe("Id of the owner's account"),
    account_email: z.string().nullable().describe("Null for a deleted account"),
    ...standingShape,
    changed_at: timeSchema,
  })
  .openapi("KnownStanding");

export function presentStanding({ slug, standing, heldMicro, audits }: OwnStanding): z.infer<typeof standingSchema> {
  const { state, streak, reason } = standing;
  const held_credits = presentCredits(heldMicro);
  return { cargo: slug, state, streak, reason, proven_after: PROVEN_AFTER, held_credits, audits: { ...audits } };
}

export function presentKnownStanding(stored: KnownStanding): z.infer<typeof knownStandingSchema> {
  const { ownerAccountId, email, slug, standing, changedAtMs } = stored;
  const { state, streak, reason } = standing;
  const account = { account_id: ownerAccountId, account_email: email === "" ? null : email };
  return { ...account, cargo: slug, state, streak, reason, changed_at: presentTime(changedAtMs) };
}

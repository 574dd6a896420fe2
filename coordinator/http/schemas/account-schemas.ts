import { z } from "@hono/zod-openapi";
import { ROLES, type Account } from "../../store/accounts/accounts.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "./wire-units.ts";

export const accountSchema = z
  .object({ id: z.string(), email: z.string(), credits: creditsSchema, role: z.enum(ROLES), created_at: timeSchema })
  .openapi("Account");

export function presentAccount({ id, email, balanceMicro, role, createdAtMs }: Account): z.infer<typeof accountSchema> {
  return { id, email, credits: presentCredits(balanceMicro), role, created_at: presentTime(createdAtMs) };
}

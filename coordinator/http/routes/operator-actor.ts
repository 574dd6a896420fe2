import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Identity } from "../../accounts/identity.ts";
import type { Actor } from "../../operators/audit-trail.ts";
import { MAX_REASON_CHARS } from "../../operators/operator-accounts.ts";
import type { HttpDeps, HttpEnv } from "../http-deps.ts";
import { clientAddress } from "../server/client-address.ts";

export function actorOf(c: Context<HttpEnv>, identity: Identity, { options }: HttpDeps): Actor {
  return { via: "api", actor: identity.accountId, origin: clientAddress(c.env.incoming, options) };
}

/** Returns the schema of a text without line breaks: the owner of an Island sees the text in a terminal. */
export const oneLine = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine((text) => !/\p{Cc}/u.test(text), { message: "must be a single line without control characters" });

export const suspendBody = z
  .object({ reason: oneLine(MAX_REASON_CHARS).describe("Reason that is shown to the suspended account") })
  .openapi("Suspend");

export const searchSchema = z.string().trim().min(1).max(200).optional();

import { z } from "@hono/zod-openapi";
import { type AskedTerms, AUDITS, TRUSTS } from "../../credits/trust.ts";

/** Fields of every request that submits jobs. They are not part of OpenAI's and Anthropic's APIs. */
export const trustFields = {
  trust: z
    .enum(TRUSTS)
    .nullish()
    .describe(
      "Islands that may run the job. `proven`: those of owners whose answers with this Cargo passed ten audits, or whom an operator trusts. `own`: those of your account. The Cargo's `min_trust` may demand more. Default: the API key's `trust`, or `any`",
    ),
  audit: z
    .enum(AUDITS)
    .nullish()
    .describe(
      "`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`",
    ),
};

/** Returns what the body of a request asks for. */
export function askedTermsOf({ trust, audit }: AskedTerms): AskedTerms {
  return { trust, audit };
}

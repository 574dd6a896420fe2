import { z } from "@hono/zod-openapi";
import { type AskedTerms, AUDITS, TRUSTS } from "../../credits/trust.ts";

/** Fields of every request that submits jobs. They are not part of OpenAI's and Anthropic's APIs. */
export const trustFields = {
  trust: z
    .enum(TRUSTS)
    .nullish()
    .describe(
      "Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more",
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

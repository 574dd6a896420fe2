import type { JobRecord } from "../../coordinator/store/jobs/job-store.ts";
import { MAX_TOKENS, PROMPT_TOKENS, type CargoName } from "./settings.ts";

/**
 * Returns the cost of an ended job by the rule of `docs/SPEC.md`, not by the code. The cost covers the prompt and the
 * delivered tokens, up to the price, and a delivered token costs as much as four prompt tokens. `delivered` is the
 * number of tokens in the stored feed.
 */
export function chargeByRule(job: JobRecord, delivered: number): number {
  const { state, priceMicro, usage, error } = job;
  const isText = (job.slug as CargoName) !== "value";
  if (state === "completed") return delivered > 0 || !isText ? priceMicro : 0;
  if (!isText) return 0;
  if (state !== "cancelled" && delivered === 0) return 0;
  if (error?.code === "invalid_output" || error?.code === "output_too_large") return 0;
  const read = usage?.promptTokens ?? 0;
  const prompt = read === 0 ? 0 : PROMPT_TOKENS;
  const done = read + 4 * Math.min(delivered, MAX_TOKENS);
  return Math.ceil((priceMicro * done) / (prompt + 4 * MAX_TOKENS));
}

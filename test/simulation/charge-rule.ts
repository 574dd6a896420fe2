import type { JobRecord } from "../../coordinator/store/jobs/job-store.ts";
import { MAX_TOKENS, PRICES, PRIORITY_PRICE, type CargoName } from "./settings.ts";

/**
 * Returns the cost of an ended job by the rule of `docs/concepts.md`, not by the code. Text costs the tokens read and
 * delivered, up to the hold. The price of the Cargo covers 500 tokens of prompt and 500 tokens of completion, each of
 * which costs as much as four prompt tokens. `delivered` is the number of tokens in the stored feed.
 */
export function chargeByRule(job: JobRecord, delivered: number): number {
  const { state, priceMicro, priority, usage, error } = job;
  const cargo = job.slug as CargoName;
  if (cargo === "value") return state === "completed" ? priceMicro : 0;
  if (state !== "cancelled" && delivered === 0) return 0;
  if (error?.code === "invalid_output" || error?.code === "output_too_large") return 0;
  const read = usage?.promptTokens ?? 0;
  const price = PRICES[cargo] * (1 + ((PRIORITY_PRICE - 1) * priority) / 100);
  const cost = Math.ceil((price * (read + 4 * Math.min(delivered, MAX_TOKENS))) / (500 + 4 * 500));
  return Math.min(priceMicro, cost);
}

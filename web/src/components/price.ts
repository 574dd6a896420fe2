import type { Cargo } from "@atoll/client";
import { formatCredits, formatWhole } from "./numbers.ts";

/** Describes the price of a job, the size for which it holds, and the prices by size. */
export function describePrice({ price_per_job: price, pricing }: Pick<Cargo, "price_per_job" | "pricing">): string {
  const perJob = `${formatCredits(price)} credits per job`;
  if (pricing === null) return perJob;
  const { reference } = pricing;
  const { prompt_tokens: prompt, completion_tokens: completion } = reference;
  const rates = describeTokenRates(pricing);
  if (rates !== null) {
    const size = [prompt, completion].filter((tokens) => tokens !== null).map((tokens) => formatWhole(tokens));
    return `${perJob} of ${size.join(" + ")} tokens; ${rates} credits per million tokens`;
  }
  if (pricing.megapixel_step !== null) {
    const size = formatCredits(reference.megapixel_steps ?? 0);
    return `${perJob} of ${size} megapixel steps; ${formatCredits(pricing.megapixel_step)} credits per megapixel and step`;
  }
  const seconds = formatCredits(reference.audio_seconds ?? 0);
  return `${perJob} of ${seconds} s; ${formatCredits(pricing.audio_second ?? 0)} credits per second`;
}

/** Returns the credits per million tokens of prompt and completion, such as "4 / 16"; null without such prices. */
export function describeTokenRates(pricing: Cargo["pricing"]): string | null {
  const rates = [pricing?.prompt, pricing?.completion].filter((rate) => rate != null);
  return rates.length === 0 ? null : rates.map(formatCredits).join(" / ");
}

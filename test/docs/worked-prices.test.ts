import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  chargeOf,
  type PerUnit,
  type PricedCargo,
  priceJob,
  pricingOf,
  referencePriceOf,
} from "../../coordinator/credits/pricing.ts";
import { DEFAULT_OUTPUT_TOKENS } from "../../shared/chat-input.ts";
import { cellsOf } from "./table-rows.ts";

const PAGE = join(import.meta.dirname, "..", "..", "docs", "use", "prices.md");
const OTHER = { isChat: false, onnxTaskType: null };

const numbersIn = (text: string): number[] =>
  [...text.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([number]) => Number(number.replaceAll(",", "")));

/** Returns the Cargo of an example. */
function cargoOf(job: string, price: string): PricedCargo {
  const [credits = 0] = numbersIn(price);
  if (price.includes("price_per_job")) {
    const isChat = /chat/i.test(job);
    return { isChat, onnxTaskType: isChat ? null : "feature-extraction", priceMicro: credits * 1e6 };
  }
  const pricing = pricingOf(price.includes("audio") ? { audio_second: credits } : { megapixel_step: credits });
  return { ...OTHER, pricing, priceMicro: referencePriceOf(pricing) };
}

/** Returns the largest size of an example, which its hold covers, and the tokens that it reads and gets. */
function sizeOf(size: string, output: string): { readonly held: PerUnit; readonly read: number; readonly got: number } {
  const [first = 0, second = 0, third = 0] = numbersIn(size);
  if (size.includes("pixels")) return { held: { pixelStep: first * second * third }, read: 0, got: 0 };
  if (size.includes("WAV")) return { held: { audioUs: first * 1e6 }, read: 0, got: 0 };
  const [got = 0, maxTokens = 0] = numbersIn(output);
  return { held: { prompt: first, completion: maxTokens }, read: second, got };
}

describe("the examples of docs/use/prices.md", () => {
  const [, examples = ""] = readFileSync(PAGE, "utf8").split("## Examples");
  const rows = examples
    .split("\n")
    .flatMap((line) => [cellsOf(line) ?? []])
    .filter((cells) => cells.length > 0)
    .slice(2);

  it("are five", () => {
    expect(rows).toHaveLength(5);
  });

  it.each(rows.map((row) => [row[0], row] as const))("state the hold and the charge of: %s", (_, row) => {
    const [job = "", price = "", size = "", output = "", held = "", charge = ""] = row;
    const sizes = sizeOf(size, output);
    const { heldMicro, rates } = priceJob(cargoOf(job, price), sizes.held, 0, 1);
    const charged =
      rates === null ? heldMicro : chargeOf(rates, { prompt: sizes.read, completion: sizes.got }, heldMicro);
    expect([heldMicro / 1e6, charged / 1e6]).toEqual([Number(held), Number(charge)]);
  });

  it("have the default of `max_tokens`", () => {
    for (const [job = "", , , output = ""] of rows)
      if (/chat/i.test(job)) expect(numbersIn(output)[1]).toBe(DEFAULT_OUTPUT_TOKENS);
  });
});

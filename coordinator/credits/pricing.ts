import type { Cargo } from "../../shared/cargo.ts";
import { TEXT_TASKS, taskOf } from "../../shared/text-task.ts";
import { microFromCredits } from "./micro-credits.ts";
import { priceOf } from "./postings.ts";

/**
 * What the price of a job depends on: tokens of the prompt and of the completion, pixels of an image times steps, and
 * microseconds of audio.
 */
export type Unit = "prompt" | "completion" | "pixelStep" | "audioUs";
/** A number for each unit that the price of a Cargo depends on. Other units are absent. */
export type PerUnit = Readonly<Partial<Record<Unit, number>>>;

export interface Pricing {
  /** Micro-credits for a million of each unit, so that a rate per million tokens or second of audio is an integer. */
  readonly rates: PerUnit;
  /** Size of the job that costs `price_per_job`. */
  readonly reference: PerUnit;
}

/** Micro-credits for a million tokens: the price of a job whose size is known only at its end. */
export interface TokenRates {
  readonly prompt: number;
  readonly completion: number;
}

interface TokenCounts {
  readonly prompt: number;
  readonly completion: number;
}

/** Facts about a Cargo that determine the prices of its jobs. */
export type PricedCargo = Pick<Cargo, "isChat" | "onnxTaskType" | "task" | "priceMicro"> & {
  /** Prices that the Cargo's file names; absent if it names only `price_per_job`. */
  readonly pricing?: Pricing;
};

/** The field `pricing` of a Cargo's file, in credits. */
type PricingFields =
  | {
      readonly prompt: number;
      readonly completion?: number | undefined;
      readonly reference?:
        | { readonly prompt_tokens: number; readonly completion_tokens?: number | undefined }
        | undefined;
    }
  | {
      readonly megapixel_step: number;
      readonly reference?: { readonly width: number; readonly height: number; readonly steps: number } | undefined;
    }
  | { readonly audio_second: number; readonly reference?: { readonly seconds: number } | undefined };

const UNITS_PER_RATE = 1_000_000n;
const REFERENCE_TOKENS = 500;
/** Number of prompt tokens that cost as much as one generated token: prompts are read in batches. */
const PROMPT_TOKENS_PER_TOKEN = 4;
/** Size of an image that costs `price_per_job` if the Cargo names no other. */
const REFERENCE_IMAGE = { width: 512, height: 512, steps: 20 };
/** Fields of an input whose product is the size of an image. */
export const IMAGE_SIZE_FIELDS = ["width", "height", "steps"] as const;
const REFERENCE_SECONDS = 60;
const US_PER_S = 1_000_000;
/** Limit of an amount. An account cannot get more from grants. */
const MAX_MICRO = Number.MAX_SAFE_INTEGER;

/**
 * Prices of text if a Cargo names only `price_per_job`, for a price of 1 micro-credit: the reference size times the
 * rates is a million.
 */
const CHAT: Pricing = {
  rates: { prompt: 400, completion: PROMPT_TOKENS_PER_TOKEN * 400 },
  reference: { prompt: REFERENCE_TOKENS, completion: REFERENCE_TOKENS },
};
const PROMPT_ONLY: Pricing = { rates: { prompt: 2_000 }, reference: { prompt: REFERENCE_TOKENS } };

/** Returns whether jobs of a task are priced by the tokens of their prompt. */
export function isPromptTask(task: string | null): boolean {
  return TEXT_TASKS.some((each) => each === task);
}

/** Converts the field `pricing` of a Cargo's file. */
export function pricingOf(fields: PricingFields): Pricing {
  if ("prompt" in fields) {
    const { prompt, completion, reference } = fields;
    const isChat = completion !== undefined;
    return {
      rates: { prompt: microFromCredits(prompt), ...(isChat && { completion: microFromCredits(completion) }) },
      reference: {
        prompt: reference?.prompt_tokens ?? REFERENCE_TOKENS,
        ...(isChat && { completion: reference?.completion_tokens ?? REFERENCE_TOKENS }),
      },
    };
  }
  if ("megapixel_step" in fields) {
    const { width, height, steps } = fields.reference ?? REFERENCE_IMAGE;
    return {
      rates: { pixelStep: microFromCredits(fields.megapixel_step) },
      reference: { pixelStep: width * height * steps },
    };
  }
  const seconds = fields.reference?.seconds ?? REFERENCE_SECONDS;
  return {
    rates: { audioUs: microFromCredits(fields.audio_second) },
    reference: { audioUs: Math.round(seconds * US_PER_S) },
  };
}

/** Returns the price of a job of the reference size, in micro-credits. */
export function referencePriceOf({ rates, reference }: Pricing): number {
  return costOf(rates, reference);
}

/**
 * Returns the current prices of a Cargo; null if each of its jobs costs `priceMicro`. Text is priced by tokens. If the
 * operator changed the price of the Cargo, the rates change by the same factor.
 */
export function currentPricing({ isChat, priceMicro, pricing, ...cargo }: PricedCargo): Pricing | null {
  const byText = isChat ? CHAT : isPromptTask(taskOf(cargo)) ? PROMPT_ONLY : null;
  const named = pricing ?? byText;
  if (named === null || priceMicro === referencePriceOf(named)) return named;
  const from = productOf(named.rates, named.reference);
  const to = BigInt(priceMicro) * UNITS_PER_RATE;
  const scaled = (rate: number): number => Number((2n * BigInt(rate) * to + from) / (2n * from));
  return { ...named, rates: mapUnits(named.rates, scaled) };
}

/** The price of a job at its submission. */
interface JobPrice {
  /** The credits to hold, in micro-credits: the maximum of the charge. */
  readonly heldMicro: number;
  /** The rates of the charge; null if the charge is `heldMicro` or nothing. */
  readonly rates: TokenRates | null;
}

/**
 * Returns the price of a job.
 * @param size The size of the job; for tokens, their maximum. A missing unit has the Cargo's reference size.
 */
export function priceJob(cargo: PricedCargo, size: PerUnit, priority: number, priorityPrice: number): JobPrice {
  const current = currentPricing(cargo);
  const atPriority = (micro: number): number => Math.min(priceOf(micro, priority, priorityPrice), MAX_MICRO);
  if (current === null) return { heldMicro: atPriority(cargo.priceMicro), rates: null };
  const { rates, reference } = current;
  if (rates.prompt === undefined) {
    const isKnown = unitsOf(rates).every(([unit]) => size[unit] !== undefined);
    return { heldMicro: atPriority(isKnown ? costOf(rates, size) : cargo.priceMicro), rates: null };
  }
  const tokenRates = {
    prompt: priceOf(rates.prompt, priority, priorityPrice),
    completion: priceOf(rates.completion ?? 0, priority, priorityPrice),
  };
  return { heldMicro: costOf(tokenRates, { ...reference, ...size }), rates: tokenRates };
}

/** Returns the charge for tokens, which never exceeds the held credits. */
export function chargeOf(rates: TokenRates, tokens: TokenCounts, heldMicro: number): number {
  return Math.min(costOf(rates, tokens), heldMicro);
}

/** Returns the cost of a size in micro-credits, rounded up. Computes with bigint: products exceed the safe integers. */
function costOf(rates: PerUnit, size: PerUnit): number {
  const micro = (productOf(rates, size) + UNITS_PER_RATE - 1n) / UNITS_PER_RATE;
  return micro > BigInt(MAX_MICRO) ? MAX_MICRO : Number(micro);
}

function productOf(rates: PerUnit, size: PerUnit): bigint {
  return unitsOf(rates).reduce((sum, [unit, rate]) => sum + BigInt(rate) * BigInt(size[unit] ?? 0), 0n);
}

function unitsOf(perUnit: PerUnit): [Unit, number][] {
  return Object.entries(perUnit) as [Unit, number][];
}

function mapUnits(perUnit: PerUnit, change: (value: number) => number): PerUnit {
  return Object.fromEntries(unitsOf(perUnit).map(([unit, value]) => [unit, change(value)]));
}

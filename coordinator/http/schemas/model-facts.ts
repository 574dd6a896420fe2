import { z } from "@hono/zod-openapi";
import { canReadImages } from "../../../shared/cargo.ts";
import { isDeclaredAddress } from "../../../shared/model-address.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { modelKindOf, type ModelKind } from "../../catalog/model-kind.ts";
import { currentPricing, type PerUnit, type PricedCargo } from "../../credits/pricing.ts";
import { creditsSchema, presentCredits } from "./wire-units.ts";

/** Facts about the model of a Cargo, in the catalog and in the list of models. OpenRouter uses the same names. */
export const modelFactShape = {
  input_modalities: z.array(z.enum(["text", "image", "audio"])).describe("Kinds of input"),
  output_modalities: z.array(z.enum(["text", "image", "audio", "embedding"])).describe("Kinds of output"),
  supported_features: z
    .array(z.enum(["tools", "json_mode", "structured_outputs", "logprobs", "reasoning"]))
    .describe("Abilities in chats. An engine of a host may lack some; then other Islands run the requests"),
  parameters: z.string().nullable().describe("Number of parameters, such as 8B; null if unknown"),
  quantization: z.string().nullable().describe("Quantisation of the weights, such as Q4_K_M; null if unknown"),
  declared: z
    .boolean()
    .describe("Whether the model is only declared: nothing proves what the engines of its hosts run"),
};
const modelFactsSchema = z.object(modelFactShape);
type ModelFacts = z.infer<typeof modelFactsSchema>;

const MODALITIES: Readonly<Record<ModelKind, Pick<ModelFacts, "input_modalities" | "output_modalities">>> = {
  chat: { input_modalities: ["text"], output_modalities: ["text"] },
  embedding: { input_modalities: ["text"], output_modalities: ["embedding"] },
  rerank: { input_modalities: ["text"], output_modalities: ["text"] },
  classification: { input_modalities: ["text"], output_modalities: ["text"] },
  image: { input_modalities: ["text"], output_modalities: ["image"] },
  transcription: { input_modalities: ["audio"], output_modalities: ["text"] },
  speech: { input_modalities: ["text"], output_modalities: ["audio"] },
};
const CHAT_ABILITIES = ["tools", "json_mode", "structured_outputs", "logprobs"] as const;

/** Returns the facts; the lists are empty for a Cargo that runs only as jobs. */
export function presentModelFacts(cargo: CatalogEntry): ModelFacts {
  const kind = modelKindOf(cargo);
  const { input_modalities = [], output_modalities = [] } = kind === null ? {} : MODALITIES[kind];
  return {
    input_modalities: canReadImages(cargo) ? ["text", "image"] : input_modalities,
    output_modalities,
    supported_features: kind === "chat" ? [...CHAT_ABILITIES, ...(cargo.reasoning ? ["reasoning" as const] : [])] : [],
    parameters: cargo.parameters ?? null,
    quantization: cargo.quantization ?? null,
    declared: isDeclaredAddress(cargo.model?.url ?? ""),
  };
}

/** Prices by size, in credits. */
export const rateShape = {
  prompt: creditsSchema.nullable().describe("Credits for a million prompt tokens; null if prompts have no price"),
  completion: creditsSchema
    .nullable()
    .describe("Credits for a million generated tokens; null if the Cargo does not generate tokens that have a price"),
  megapixel_step: creditsSchema
    .nullable()
    .describe("Credits for a million pixels and a step; null if the Cargo is not priced by pixels"),
  audio_second: creditsSchema
    .nullable()
    .describe("Credits for a second of audio; null if the Cargo is not priced by seconds"),
};

export const pricingSchema = z
  .object({
    ...rateShape,
    reference: z
      .object({
        prompt_tokens: z.int().nullable(),
        completion_tokens: z.int().nullable(),
        megapixel_steps: z.number().nullable(),
        audio_seconds: z.number().nullable(),
      })
      .describe("Size of the job that costs `price_per_job`"),
  })
  .openapi("Pricing");

export function presentRates(cargo: PricedCargo) {
  return presentRatesOf(currentPricing(cargo)?.rates ?? {});
}

export function presentPricing(cargo: PricedCargo): z.infer<typeof pricingSchema> | null {
  const pricing = currentPricing(cargo);
  if (pricing === null) return null;
  const { prompt = null, completion = null, pixelStep, audioUs } = pricing.reference;
  return {
    ...presentRatesOf(pricing.rates),
    reference: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      megapixel_steps: pixelStep === undefined ? null : pixelStep / 1_000_000,
      audio_seconds: audioUs === undefined ? null : audioUs / 1_000_000,
    },
  };
}

function presentRatesOf({ prompt, completion, pixelStep, audioUs }: PerUnit) {
  const present = (rate: number | undefined): number | null => (rate === undefined ? null : presentCredits(rate));
  return {
    prompt: present(prompt),
    completion: present(completion),
    megapixel_step: present(pixelStep),
    audio_second: present(audioUs),
  };
}

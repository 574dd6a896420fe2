import { WavError, wavSeconds } from "../../shared/audio/wav-file.ts";
import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { CheckedInput } from "../catalog/input-check.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { currentPricing, IMAGE_SIZE_FIELDS, type PerUnit } from "../credits/pricing.ts";
import { formatTokensOf, promptBytesOf } from "./job-traits.ts";

/** Base64 of the first 64 KiB of a recording: its header, with the metadata that programs write before the samples. */
const HEAD_CHARS = 87_384;
const US_PER_S = 1_000_000;

/**
 * Returns the size of a job, by which it is priced. Tokens are bounded: a token has at least one byte, and the context
 * limits a chat. Other units are exact. A unit is absent if the input does not show it.
 */
export function jobSizeOf(cargo: CatalogEntry, { input, inputJson }: CheckedInput): PerUnit {
  if (cargo.isChat) return chatSizeOf(cargo, input);
  const rates = currentPricing(cargo)?.rates ?? {};
  if (rates.prompt !== undefined) return { prompt: Buffer.byteLength(inputJson) };
  if (rates.pixelStep !== undefined) return pixelStepsOf(cargo, input);
  return rates.audioUs === undefined ? {} : audioSizeOf(input["audio"]);
}

function chatSizeOf(cargo: CatalogEntry, input: CheckedInput["input"]): PerUnit {
  const { success, data } = chatInputSchema.safeParse(input);
  if (!success) return {};
  const request = chatRequestOf(data);
  const context = cargo.contextTokens ?? Infinity;
  return {
    prompt: Math.min(promptBytesOf(request, cargo).total, context) + formatTokensOf(request),
    completion: Math.min(request.maxTokens, context),
  };
}

/** Returns the pixels of an image times its steps, with the defaults of the Cargo's schema. */
function pixelStepsOf({ inputSchema }: CatalogEntry, input: CheckedInput["input"]): PerUnit {
  const properties = (inputSchema["properties"] ?? {}) as Readonly<Record<string, { readonly default?: unknown }>>;
  const factors = IMAGE_SIZE_FIELDS.map((name) => input[name] ?? properties[name]?.default);
  if (!factors.every((factor) => typeof factor === "number")) return {};
  return { pixelStep: Math.round(factors.reduce((product, factor) => product * factor, 1)) };
}

/** Returns the duration of a WAV file in base64. Other audio, and audio in an uploaded file, has no known duration. */
function audioSizeOf(audio: unknown): PerUnit {
  if (typeof audio !== "string") return {};
  try {
    const seconds = wavSeconds(Buffer.from(audio.slice(0, HEAD_CHARS), "base64"), Math.floor((audio.length * 3) / 4));
    return { audioUs: Math.ceil(seconds * US_PER_S) };
  } catch (error) {
    if (error instanceof WavError) return {};
    throw error;
  }
}

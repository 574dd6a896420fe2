import { WavError, wavSeconds } from "../../shared/audio/wav-file.ts";
import { chatRequestOf, parseChat } from "../../shared/chat-input.ts";
import { fileIdOf } from "../../shared/job-files.ts";
import type { CheckedInput } from "../catalog/input-text.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { currentPricing, IMAGE_SIZE_FIELDS, type PerUnit } from "../credits/pricing.ts";
import type { FileRecord } from "../store/files/files.ts";
import { formatTokensOf, promptBytesOf } from "./job-traits.ts";

/** Bytes of a recording that are read: its header, with the metadata that programs write before the samples. */
const HEAD_BYTES = 65_536;
const US_PER_S = 1_000_000;

/** The beginning of a recording. */
interface RecordingHead {
  readonly head: Uint8Array;
  readonly fileBytes: number;
}

/**
 * Returns the size of a job, by which it is priced. Tokens are bounded: a token has at least one byte, and the context
 * limits a chat. Other units are exact. A unit is absent if the input does not show it.
 * @param files The files that the input names.
 * @param headOf Returns the beginning of a file; null if it cannot be read.
 */
export async function jobSizeOf(
  cargo: CatalogEntry,
  checked: CheckedInput,
  files: readonly FileRecord[],
  headOf: (file: FileRecord, bytes: number) => Promise<Uint8Array | null>,
): Promise<PerUnit> {
  if (cargo.isChat) return chatSizeOf(cargo, checked.input);
  const rates = currentPricing(cargo)?.rates ?? {};
  if (rates.prompt !== undefined) return { prompt: Buffer.byteLength(checked.inputJson) };
  if (rates.pixelStep !== undefined) return pixelStepsOf(cargo, checked.input);
  if (rates.audioUs === undefined) return {};
  const { audio } = checked.input;
  if (typeof audio === "string") return audioSizeOf(inlineRecording(audio));
  const file = files.find(({ id }) => id === fileIdOf(audio));
  const head = file === undefined ? null : await headOf(file, HEAD_BYTES);
  return file === undefined || head === null ? {} : audioSizeOf({ head, fileBytes: file.sizeBytes });
}

function chatSizeOf(cargo: CatalogEntry, input: CheckedInput["input"]): PerUnit {
  const { success, data } = parseChat(input);
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

function inlineRecording(base64: string): RecordingHead {
  const head = Buffer.from(base64.slice(0, Math.ceil(HEAD_BYTES / 3) * 4), "base64");
  return { head, fileBytes: Math.floor((base64.length * 3) / 4) };
}

/** Returns the duration of a WAV file. Other audio has no known duration. */
function audioSizeOf({ head, fileBytes }: RecordingHead): PerUnit {
  try {
    const seconds = wavSeconds(head, fileBytes);
    return { audioUs: Math.ceil(seconds * US_PER_S) };
  } catch (error) {
    if (error instanceof WavError) return {};
    throw error;
  }
}

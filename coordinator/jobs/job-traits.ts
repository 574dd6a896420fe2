import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import { KIB, MIB } from "../../shared/format-bytes.ts";
import { TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { JobInput } from "../store/job-store.ts";

/** What a job's input says about its price, its output and its retries. */
export interface JobTraits {
  /** Most tokens that the client asked for; null for a Cargo that is not a chat. */
  readonly maxTokens: number | null;
  /** Most output of all attempts, in bytes. */
  readonly maxOutputBytes: number;
  /** Another Island can continue after the text that was delivered. */
  readonly canContinue: boolean;
}

const MAX_BYTES_PER_TOKEN = KIB;
/** Four bytes in base64, as an item of the feed and as the output. */
const MAX_BYTES_PER_PIXEL = 12;

/**
 * An answer in JSON cannot continue: a grammar has no way to start in the middle.
 * @param cargo Undefined when it is gone.
 * @param maxOutputBytes For a job of which neither input nor Cargo says how much it may make.
 */
export function traitsOf(
  input: JobInput,
  cargo: Pick<CatalogEntry, "isChat" | "runtimeType" | "onnxTaskType" | "maxOutputBytes"> | undefined,
  maxOutputBytes: number,
): JobTraits {
  const parsed = cargo?.isChat === true ? chatInputSchema.safeParse(input) : undefined;
  if (parsed === undefined || !parsed.success) {
    const bytes = cargo?.maxOutputBytes ?? Math.min(maxOutputBytes, imageBytes(input, cargo));
    return { maxTokens: null, maxOutputBytes: bytes, canContinue: false };
  }
  const { maxTokens, responseFormat } = chatRequestOf(parsed.data);
  const bytes = (maxTokens + 1) * MAX_BYTES_PER_TOKEN;
  return { maxTokens, maxOutputBytes: bytes, canContinue: responseFormat.type === "text" };
}

/** Infinity for a job that makes no image, or leaves its size to the Cargo. */
function imageBytes({ width, height }: JobInput, cargo: Parameters<typeof traitsOf>[1]): number {
  const isImage = cargo?.runtimeType === "diffusers" || cargo?.onnxTaskType === TEXT_TO_IMAGE;
  if (!isImage || typeof width !== "number" || typeof height !== "number") return Infinity;
  return MIB + width * height * MAX_BYTES_PER_PIXEL;
}

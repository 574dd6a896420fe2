import { isTokenItem } from "../output.ts";
import { MAX_FRAME_ITEMS, MAX_JOINED_OUTPUTS, type FromIsland, type OutputFrame } from "./from-island.ts";

/** Source: `fromIslandSchema`. */
const MAX_ID_CHARS = 64;
/** Number of fields of an output without its type. */
const OUTPUT_FIELDS = 4;
const ITEM_FIELDS = 3;

/**
 * Returns the frame if it is token output and all its fields are known to the schema. Returns null for all other
 * frames, which the schema then checks. The check is hand-written, because most frames are of this kind and the schema
 * check takes most of the time of a frame.
 */
export function asTokenFrame(value: unknown): OutputFrame | null {
  if (!isObject(value) || value.type !== "output" || !isTokenOutput(value, OUTPUT_FIELDS + 1)) return null;
  return value as unknown as OutputFrame;
}

/** Returns the frame if it is joined token output; see {@link asTokenFrame}. */
export function asTokenFrames(value: unknown): Extract<FromIsland, { type: "outputs" }> | null {
  if (!isObject(value) || value.type !== "outputs" || countFields(value) !== 2) return null;
  const { outputs } = value;
  if (!Array.isArray(outputs) || outputs.length === 0 || outputs.length > MAX_JOINED_OUTPUTS) return null;
  let items = 0;
  for (const each of outputs as unknown[]) {
    if (!isObject(each) || !isTokenOutput(each, OUTPUT_FIELDS)) return null;
    items += each.items.length;
  }
  return items <= MAX_FRAME_ITEMS ? (value as Extract<FromIsland, { type: "outputs" }>) : null;
}

function isTokenOutput(
  value: Readonly<Record<string, unknown>>,
  fields: number,
): value is { items: readonly unknown[] } {
  const { jobId, attempt, seq, items } = value;
  if (countFields(value) !== fields || typeof jobId !== "string" || jobId.length > MAX_ID_CHARS) return false;
  if (!isPositiveInteger(attempt) || !isPositiveInteger(seq)) return false;
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_FRAME_ITEMS) return false;
  for (const item of items) if (!isTokenItem(item) || countFields(item) !== ITEM_FIELDS) return false;
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isPositiveInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function countFields(value: object): number {
  let count = 0;
  for (const _ in value) count += 1;
  return count;
}

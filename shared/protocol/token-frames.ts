import { isTokenItem } from "../output.ts";
import type { FromIsland } from "./from-island.ts";

/** Source: `fromIslandSchema`. */
const MAX_ID_CHARS = 64;
const MAX_ITEMS = 10_000;
const FRAME_FIELDS = 5;
const ITEM_FIELDS = 3;

/**
 * Returns the frame if it is token output and all its fields are known to the schema. Returns null for all other
 * frames, which the schema then checks. The check is hand-written, because most frames are of this kind and the schema
 * check takes most of the time of a frame.
 */
export function asTokenFrame(value: unknown): Extract<FromIsland, { type: "output" }> | null {
  if (typeof value !== "object" || value === null || countFields(value) !== FRAME_FIELDS) return null;
  const { type, jobId, attempt, seq, items } = value as Record<string, unknown>;
  if (type !== "output" || typeof jobId !== "string" || jobId.length > MAX_ID_CHARS) return null;
  if (!isPositiveInteger(attempt) || !isPositiveInteger(seq)) return null;
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ITEMS) return null;
  for (const item of items) if (!isTokenItem(item) || countFields(item) !== ITEM_FIELDS) return null;
  return value as Extract<FromIsland, { type: "output" }>;
}

function isPositiveInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function countFields(value: object): number {
  let count = 0;
  for (const _ in value) count += 1;
  return count;
}

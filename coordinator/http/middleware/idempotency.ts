import { createHash } from "node:crypto";
import { sortedJson } from "../../../shared/canonical-json.ts";
import { ValidationError } from "../../../shared/errors.ts";

const HEADER = "Idempotency-Key";
const MAX_KEY_CHARS = 255;

/**
 * Returns the key of a submission and a hash of its body, to recognise a repeat; null without a key.
 * @param body The validated body, so that white space and the order of members do not matter.
 * @throws {ValidationError} for a key that is empty or too long.
 */
export function idempotencyOf(key: string | undefined, body: unknown): { key: string; bodyHash: string } | null {
  if (key === undefined) return null;
  if (key.length < 1 || key.length > MAX_KEY_CHARS) {
    throw new ValidationError([{ path: HEADER, message: `must have 1 to ${MAX_KEY_CHARS} characters` }]);
  }
  return { key, bodyHash: createHash("sha256").update(sortedJson(body)).digest("hex") };
}

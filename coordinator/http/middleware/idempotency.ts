import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { sortedJson } from "../../../shared/canonical-json.ts";
import { ValidationError } from "../../../shared/errors.ts";

const MAX_KEY_CHARS = 255;

export const idempotencyHeaders = z.object({ "idempotency-key": z.string().optional() });

/**
 * Returns the idempotency key of a submission and a hash of its body, which recognise a repeated request; null without
 * a key.
 * @param body The validated body, so that white space and the order of members do not matter.
 * @throws {ValidationError} for a key that is empty or too long.
 */
export function idempotencyOf(c: Context, body: unknown): { key: string; bodyHash: string } | null {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return null;
  if (key.length < 1 || key.length > MAX_KEY_CHARS) {
    throw new ValidationError([{ path: "Idempotency-Key", message: `must have 1 to ${MAX_KEY_CHARS} characters` }]);
  }
  return { key, bodyHash: createHash("sha256").update(sortedJson(body)).digest("hex") };
}

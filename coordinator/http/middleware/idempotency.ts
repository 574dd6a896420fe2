import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { sortedJson } from "../../../shared/canonical-json.ts";
import { mapInTurns } from "../../../shared/async/own-turn.ts";
import { ValidationError } from "../../../shared/errors.ts";
import { InputText } from "../../catalog/input-text.ts";

const MAX_KEY_CHARS = 255;
/** How much longer sorting and hashing take than parsing. */
const HASH_FACTOR = 4;

export const idempotencyHeaders = z.object({ "idempotency-key": z.string().optional() });

/**
 * Returns the idempotency key of a submission and a hash of its body, which recognise a repeated request; null without
 * a key.
 * @param body The validated body, so that white space and the order of members do not matter.
 * @throws {ValidationError} for a key that is empty or too long.
 */
export async function idempotencyOf(c: Context, body: object): Promise<{ key: string; bodyHash: string } | null> {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return null;
  if (key.length < 1 || key.length > MAX_KEY_CHARS) {
    throw new ValidationError([{ path: "Idempotency-Key", message: `must have 1 to ${MAX_KEY_CHARS} characters` }]);
  }
  return { key, bodyHash: await hashOf(body) };
}

/** Returns the hash of `sortedJson(body)`. Hashes the inputs of a batch in several turns, because 1 MB takes 50 ms. */
async function hashOf(body: object): Promise<string> {
  const hash = createHash("sha256").update("{");
  const members = Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)) as [string, unknown][];
  let separator = "";
  for (const [name, value] of members) {
    const begin = `${separator}${JSON.stringify(name)}:`;
    separator = ",";
    if (!isTexts(value)) {
      hash.update(begin + sortedJson(value));
      continue;
    }
    hash.update(`${begin}[`);
    const add = ({ input }: InputText, index: number) => hash.update(`${index === 0 ? "" : ","}${sortedJson(input)}`);
    // oxlint-disable-next-line no-await-in-loop -- The hash depends on the order.
    await mapInTurns(value, ({ inputJson }) => inputJson.length * HASH_FACTOR, add);
    hash.update("]");
  }
  return hash.update("}").digest("hex");
}

function isTexts(value: unknown): value is readonly InputText[] {
  return Array.isArray(value) && value[0] instanceof InputText;
}

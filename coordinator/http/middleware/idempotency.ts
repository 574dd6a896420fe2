import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ownTurn, TURN_CHARS } from "../../../shared/async/own-turn.ts";
import { ValidationError } from "../../../shared/errors.ts";
import { InputText } from "../../catalog/input-text.ts";

const MAX_KEY_CHARS = 255;
/** Text that is sorted and hashed in one turn of the event loop, which takes longer than to parse it. */
const HASHED_CHARS = TURN_CHARS / 4;

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

/** Returns the hash of `sortedJson(body)`. It is computed in several turns, because 1 MB takes up to 500 ms. */
async function hashOf(body: object): Promise<string> {
  const hash = createHash("sha256");
  let text = "";
  for (const piece of sortedPieces(body)) {
    text += piece;
    if (text.length < HASHED_CHARS) continue;
    hash.update(text);
    text = "";
    // oxlint-disable-next-line no-await-in-loop -- The turns are the purpose.
    await ownTurn();
  }
  return hash.update(text).digest("hex");
}

/** Yields the text of `sortedJson(value)` in pieces, with the objects of inputs that are kept as text. */
function* sortedPieces(given: unknown): Generator<string, void> {
  const value = given instanceof InputText ? given.input : given;
  if (typeof value !== "object" || value === null) {
    yield JSON.stringify(value);
    return;
  }
  const isArray = Array.isArray(value);
  const members = isArray ? [] : Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  let begin = isArray ? "[" : "{";
  for (const [name, each] of isArray ? value.entries() : members) {
    yield isArray ? begin : `${begin}${JSON.stringify(name)}:`;
    yield* sortedPieces(each);
    begin = ",";
  }
  yield begin === "," ? (isArray ? "]" : "}") : isArray ? "[]" : "{}";
}

import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Identity } from "../../accounts/identity.ts";
import { LargeJson } from "../../store/jobs/large-json.ts";
import type { HttpEnv } from "../http-deps.ts";

/** A larger response counts as an open stream. A socket's own buffers hold about as much. */
export const LARGE_RESPONSE_CHARS = MIB;

const HEADERS = { "Content-Type": "application/json" };

/**
 * Responds with 200 and JSON. Large values are read from storage as fast as the client reads; a large response without
 * them stays in memory until its client has read it. Both count as one of the account's open streams until then.
 * @throws {RateLimitedError} when the account has too many open streams
 * @throws {OverloadedError} when the large responses in memory are too many
 */
export function respondWithJson(c: Context<HttpEnv>, identity: Identity, body: unknown): Response | Promise<Response> {
  const parts = jsonParts(body);
  const text = parts.length === 1 ? (parts[0] as string) : null;
  if (text === null || text.length > LARGE_RESPONSE_CHARS) return respondWithLargeJson(c, identity, text ?? parts);
  return c.body(text, 200, HEADERS);
}

async function respondWithLargeJson(
  c: Context<HttpEnv>,
  identity: Identity,
  json: string | readonly JsonPart[],
): Promise<Response> {
  const limits = c.get("limits");
  if (typeof json === "string") {
    await limits.holdResponse(identity, c.env.outgoing, json.length);
    return c.body(json, 200, HEADERS);
  }
  await limits.openStream(identity, c.env.outgoing);
  return c.body(ReadableStream.from(encoded(json)), 200, HEADERS);
}

async function* encoded(parts: readonly JsonPart[]): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of piecesOfParts(parts)) yield Buffer.from(piece);
}

/** Part of a JSON text. A large value is read from storage while it is written. */
export type JsonPart = string | LargeJson;

/** Returns the JSON text of a value; one string if it contains no large value. */
export function jsonParts(value: unknown): readonly JsonPart[] {
  const large: LargeJson[] = [];
  // No client text can contain it.
  const mark = randomUUID();
  const text = JSON.stringify(value, (_key, each: unknown) => {
    if (!(each instanceof LargeJson)) return each;
    large.push(each);
    return mark;
  });
  return text
    .split(`"${mark}"`)
    .flatMap((part, index): JsonPart[] => (index === 0 ? [part] : [large[index - 1] as LargeJson, part]));
}

export async function* piecesOfParts(parts: readonly JsonPart[]): AsyncGenerator<string, void, void> {
  for (const part of parts) {
    if (typeof part === "string") yield part;
    else yield* part.pieces();
  }
}

import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Identity } from "../../accounts/identity.ts";
import { LargeJson } from "../../store/jobs/large-json.ts";
import type { HttpEnv } from "../http-deps.ts";

/** Characters of a JSON response above which it counts as an open stream. A socket buffers about as much. */
export const LARGE_RESPONSE_CHARS = MIB;

const HEADERS = { "Content-Type": "application/json" };

/**
 * Responds with 200 and JSON. Large values are read from storage as fast as the client reads. A large response without
 * such values stays in memory until the client has read it. Both count as one of the account's open streams.
 * @throws {RateLimitedError} when the account has too many open streams
 * @throws {OverloadedError} when large responses use too much memory
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
  return c.body(ReadableStream.from(encodeParts(json)), 200, HEADERS);
}

async function* encodeParts(parts: readonly JsonPart[]): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of piecesOfParts(parts)) yield Buffer.from(piece);
}

/** Part of a JSON text: a string, or a large value that is read from storage while it is written. */
export type JsonPart = string | LargeJson;

/** Returns the JSON text of a value in parts: one string if the value contains no large value. */
export function jsonParts(value: unknown): readonly JsonPart[] {
  const large: LargeJson[] = [];
  // A random mark stands for a large value in the text: no client text can contain the mark.
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

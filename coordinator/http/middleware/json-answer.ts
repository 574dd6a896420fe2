import type { Context } from "hono";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Identity } from "../../accounts/identity.ts";
import type { HttpEnv } from "../http-deps.ts";
import { jsonParts, piecesOfParts, type JsonPart } from "./json-parts.ts";

/** An answer with more characters counts as an open stream. A socket's own buffers hold about as much. */
export const LARGE_ANSWER_CHARS = MIB;

/**
 * Answers 200 with JSON. Large values in it are read from storage as fast as the client reads. A large answer without any stays in
 * memory until its client has read it. Both count as one of the account's open streams until then.
 * @throws {RateLimitedError} for a large answer when the account has too many open streams, {@link OverloadedError} when the large
 *   answers in memory are too many; the text is dropped.
 */
export function answerJson(c: Context<HttpEnv>, identity: Identity, body: unknown): Response {
  const parts = jsonParts(body);
  const [text] = parts;
  const headers = { "Content-Type": "application/json" };
  const limits = c.get("limits");
  if (parts.length > 1) {
    limits.openStream(identity, c.env.outgoing);
    return c.body(ReadableStream.from(encoded(parts)), 200, headers);
  }
  const chars = typeof text === "string" ? text.length : 0;
  if (chars > LARGE_ANSWER_CHARS) limits.holdAnswer(identity, c.env.outgoing, chars);
  return c.body(text as string, 200, headers);
}

async function* encoded(parts: readonly JsonPart[]): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of piecesOfParts(parts)) yield Buffer.from(piece);
}

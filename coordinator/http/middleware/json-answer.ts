import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Identity } from "../../accounts/identity.ts";
import { LargeJson } from "../../store/jobs/large-json.ts";
import type { HttpEnv } from "../http-deps.ts";

/** An answer with more characters counts as an open stream. A socket's own buffers hold about as much. */
export const LARGE_ANSWER_CHARS = MIB;

const HEADERS = { "Content-Type": "application/json" };

/**
 * Answers 200 with JSON. Large values in it are read from storage as fast as the client reads. A large answer without any stays in
 * memory until its client has read it. Both count as one of the account's open streams until then.
 * @throws {RateLimitedError} for a large answer when the account has too many open streams, {@link OverloadedError} when the large
 *   answers in memory are too many; the text is dropped.
 */
export function answerJson(c: Context<HttpEnv>, identity: Identity, body: unknown): Response | Promise<Response> {
  const parts = jsonParts(body);
  const text = parts.length === 1 ? (parts[0] as string) : null;
  if (text === null || text.length > LARGE_ANSWER_CHARS) return answerLarge(c, identity, text ?? parts);
  return c.body(text, 200, HEADERS);
}

async function answerLarge(
  c: Context<HttpEnv>,
  identity: Identity,
  answer: string | readonly JsonPart[],
): Promise<Response> {
  const limits = c.get("limits");
  if (typeof answer === "string") {
    await limits.holdAnswer(identity, c.env.outgoing, answer.length);
    return c.body(answer, 200, HEADERS);
  }
  await limits.openStream(identity, c.env.outgoing);
  return c.body(ReadableStream.from(encoded(answer)), 200, HEADERS);
}

async function* encoded(parts: readonly JsonPart[]): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of piecesOfParts(parts)) yield Buffer.from(piece);
}

/** JSON text, with the large values that are read from storage while it is written. */
export type JsonPart = string | LargeJson;

/** The JSON text of a value that may hold large values anywhere. One string when it holds none. */
export function jsonParts(value: unknown): readonly JsonPart[] {
  const large: LargeJson[] = [];
  // No text of a client can contain it.
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

/** The text of the parts, piece by piece. */
export async function* piecesOfParts(parts: readonly JsonPart[]): AsyncGenerator<string, void, void> {
  for (const part of parts) {
    if (typeof part === "string") yield part;
    else yield* part.pieces();
  }
}

import type { Context } from "hono";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Identity } from "../../accounts/account-service.ts";
import type { HttpEnv } from "../http-deps.ts";

/** An answer with more characters counts as an open stream. A socket's own buffers hold about as much. */
const LARGE_ANSWER_CHARS = MIB;

/**
 * Answers 200 with JSON that may be as large as a job's output, up to 64 MB. A large answer stays in memory until its client
 * has read it, so until then it counts as one of the account's open streams.
 * @throws {RateLimitedError} for a large answer when the account has too many open streams; the text is dropped.
 */
export function answerJson(c: Context<HttpEnv>, identity: Identity, body: unknown): Response {
  const text = JSON.stringify(body);
  if (text.length > LARGE_ANSWER_CHARS) c.get("limits").openStream(identity, c.env.outgoing);
  return c.body(text, 200, { "Content-Type": "application/json" });
}

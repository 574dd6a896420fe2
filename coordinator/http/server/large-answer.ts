import type { Context } from "hono";
import type { Identity } from "../../accounts/account-service.ts";
import type { HttpEnv } from "../http-deps.ts";

/** Text of an answer above this counts as an open stream. A socket's own buffers take about as much. */
const LARGE_CHARS = 1_048_576;

/**
 * Answers 200 with JSON that may be as large as a job's output, which is up to 64 MB. A large one lies in memory until its client
 * has taken it, so that until then it holds a place among the account's open streams.
 * @throws {RateLimitedError} for a large one when the account has too many open; nothing is kept of it.
 */
export function answerJson(c: Context<HttpEnv>, identity: Identity, body: unknown): Response {
  const text = JSON.stringify(body);
  if (text.length > LARGE_CHARS) c.get("limits").openStream(identity, c.env.outgoing);
  return c.body(text, 200, { "Content-Type": "application/json" });
}

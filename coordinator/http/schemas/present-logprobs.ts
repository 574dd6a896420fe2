import type { TokenProbability } from "../../../shared/token-probability.ts";
import type { FeedItem } from "../../store/jobs/job-store.ts";
import type { ChatLogprobs } from "./chat-schemas.ts";

/** Probabilities of an answer's tokens, as OpenAI has them. Null if no item has any: they were not asked for. */
export function presentLogprobs(items: readonly FeedItem[]): ChatLogprobs | null {
  const told = items.flatMap((item) => (item.type === "token" && item.logprobs !== undefined ? [item.logprobs] : []));
  if (told.length === 0) return null;
  const content = told.flat().map((each) => ({ ...presentEntry(each), top_logprobs: each.top.map(presentEntry) }));
  return { content, refusal: null };
}

export function presentEntry({ token, logprob, bytes }: Omit<TokenProbability, "top">) {
  return { token, logprob, bytes: bytes ?? bytesOf(token) };
}

/** Null for what is not whole characters, and came without its bytes. */
function bytesOf(token: string): number[] | null {
  return token.includes("\uFFFD") ? null : [...Buffer.from(token)];
}

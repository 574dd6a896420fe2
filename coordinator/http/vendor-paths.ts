/** Base of the URLs that clients of OpenAI's API use. Its paths are those of the API below `/api/v1`. */
const VENDOR_BASE = "/v1/";
/** Path that Cohere's client adds to the host. */
const COHERE_RERANK = "/v2/rerank";
/**
 * Path of OpenAI's conversations, which differ from those of `/api/v1/conversations`: clients of one cannot read the
 * other.
 */
const OPENAI_CONVERSATIONS = "/v1/conversations";

/** Returns whether clients of OpenAI, Anthropic or Cohere call this path and expect the vendor's statuses. */
export function isVendorPath(path: string): boolean {
  return path.startsWith(VENDOR_BASE) || path === COHERE_RERANK;
}

export function canonicalPath(path: string): string {
  if (path === COHERE_RERANK) return "/api/v1/rerank";
  return path.startsWith(VENDOR_BASE) && !isOpenAiConversations(path) ? `/api${path}` : path;
}

export function isOpenAiConversations(path: string): boolean {
  return path === OPENAI_CONVERSATIONS || path.startsWith(`${OPENAI_CONVERSATIONS}/`);
}

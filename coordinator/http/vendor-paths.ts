/** Base of addresses that clients of OpenAI's API are used to: its paths are those of the API below `/api/v1`. */
const VENDOR_BASE = "/v1/";
/** Cohere's client adds it to the host. */
const COHERE_RERANK = "/v2/rerank";
/** OpenAI's conversations, which are not those of `/api/v1/conversations`: a client of either cannot read the other's. */
const OPENAI_CONVERSATIONS = "/v1/conversations";

/** Whether clients ask at this path as they ask OpenAI, Anthropic or Cohere, and expect their statuses. */
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

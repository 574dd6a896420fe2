/** Base path of vendors' clients. The paths below it equal those of `/api/v1`, except OpenAI's conversations. */
const VENDOR_BASE = "/v1/";
const COHERE_RERANK = "/v2/rerank";
const OPENAI_CONVERSATIONS = "/v1/conversations";

/** Returns whether a vendor's clients call this path and expect that vendor's statuses. */
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

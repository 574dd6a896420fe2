/** Base of addresses that clients of OpenAI's API are used to: its paths are those of the API below `/api/v1`. */
const VENDOR_BASE = "/v1/";

/** Whether clients ask at this path as they ask OpenAI or Anthropic, and expect their statuses. */
export function isVendorPath(path: string): boolean {
  return path.startsWith(VENDOR_BASE);
}

/** The path of the route that serves the path of a request. */
export function canonicalPath(path: string): string {
  return path.startsWith(VENDOR_BASE) ? `/api${path}` : path;
}

/**
 * Returns a coordinator's base address from a copied one: removes an API path (…/api/v1, …/v1), a trailing slash, and a
 * query or fragment.
 */
export function coordinatorAddress(text: string): string {
  return text
    .trim()
    .replace(/[?#].*$/, "")
    .replace(/(?<=[^/:])\/+$/, "")
    .replace(/(?:\/api)?\/v1$/i, "");
}

/**
 * A coordinator's address as Islands need it, from what people copy: that of its API (…/api/v1, …/v1), with a slash at its end, or with
 * what a browser adds.
 */
export function coordinatorAddress(text: string): string {
  return text
    .trim()
    .replace(/[?#].*$/, "")
    .replace(/(?<=[^/:])\/+$/, "")
    .replace(/(?:\/api)?\/v1$/i, "");
}

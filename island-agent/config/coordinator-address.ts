/** A coordinator's address as Islands need it, from what people copy: that of its API (…/api/v1, …/v1), or with a slash at its end. */
export function coordinatorAddress(text: string): string {
  return text.replace(/(?<=[^/:])\/+$/, "").replace(/(?:\/api)?\/v1$/, "");
}

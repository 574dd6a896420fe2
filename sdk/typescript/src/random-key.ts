/** Returns 128 random bits in hex. Browsers provide `crypto.randomUUID` only on https pages. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

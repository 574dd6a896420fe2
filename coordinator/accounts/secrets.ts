import { hash, randomInt } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 40;
const SECRET_PATTERN = /^(?:ak|st|it|pr|ep)_[0-9A-Za-z]{40}$/;
/** Number of characters of an API key that lists show. */
const PREFIX_LENGTH = 11;

/** Prefix. `ak`: API key. `st`: session. `it`: Island token. `pr`: password reset. `ep`: e-mail verification. */
type SecretKind = "ak" | "st" | "it" | "pr" | "ep";

/** Returns a new secret: its kind, and 40 random base62 characters (238 bits). */
export function newSecret(kind: SecretKind): string {
  // randomInt is uniform; a random number modulo 62 would favour some characters.
  const characters = Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(BASE62.length)]);
  return `${kind}_${characters.join("")}`;
}

/** Returns the kind of a secret; undefined if the format is invalid, so that no look-up is needed. */
export function secretKind(secret: string): SecretKind | undefined {
  return SECRET_PATTERN.test(secret) ? (secret.slice(0, 2) as SecretKind) : undefined;
}

export function secretPrefix(secret: string): string {
  return secret.slice(0, PREFIX_LENGTH);
}

/** Returns the SHA-256 of a secret in hex. A random secret needs no slow hash, and an index can find it. */
export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}

import { createHash, randomInt } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 40;
const SECRET_PATTERN = /^(?:ak|st|it)_[0-9A-Za-z]{40}$/;
/** How much of an API key is shown for telling keys apart. Source: DESIGN §4. */
const PREFIX_LENGTH = 11;

/** `ak`: API key. `st`: session. `it`: Island token. */
export type SecretKind = "ak" | "st" | "it";

/** A new secret: its kind and 40 random base62 characters (238 bits). */
export function newSecret(kind: SecretKind): string {
  // randomInt draws again where a plain modulo would favour some characters.
  const characters = Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(BASE62.length)]);
  return `${kind}_${characters.join("")}`;
}

/** The kind of a secret that has our form; undefined for anything else, which no look-up is spent on. */
export function secretKind(secret: string): SecretKind | undefined {
  return SECRET_PATTERN.test(secret) ? (secret.slice(0, 2) as SecretKind) : undefined;
}

export function secretPrefix(secret: string): string {
  return secret.slice(0, PREFIX_LENGTH);
}

/** Hex SHA-256: enough for secrets of full entropy, and found by an index without comparing secrets. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

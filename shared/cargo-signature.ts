import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";
import type { CargoManifest } from "./cargo.ts";

/** Stands before what is signed, so that a signature of this key for anything else is none for a Cargo. */
const DOMAIN = "atoll.cargo.v1\n";
/** Before a Cargo that only its owner's Islands may run; the account's id and a line feed follow. */
const OWN_DOMAIN = "atoll.cargo.own.v1\n";
/** Header of the answer to an Island's upgrade: the coordinator's public key, as {@link publicKeyText} writes it. */
export const PUBLIC_KEY_HEADER = "atoll-public-key";
/** Header of that answer once the token was accepted: the account whose Island it is. */
export const ACCOUNT_HEADER = "atoll-account";

/** 32 bytes in base64. */
const PUBLIC_KEY_PATTERN = /^[A-Za-z0-9+/]{43}=$/;
/** One line, so that no id reaches into the manifest behind it. */
const ACCOUNT_PATTERN = /^[\w-]{1,64}$/;
/** 64 bytes in base64. */
const SIGNATURE_PATTERN = /^[A-Za-z0-9+/]{86}==$/;

/**
 * What is signed of a Cargo: every field of its manifest as it travels, also those that this version does not know.
 * docs/protocol.md has test vectors.
 * @param accountId whose Islands alone may run it; null: every Island of the network.
 * @throws {TypeError} for a manifest that has no canonical JSON. @throws {RangeError} for what is no account id.
 */
export function signedBytes(manifest: CargoManifest, accountId: string | null = null): Buffer {
  if (accountId !== null && !isAccountId(accountId)) throw new RangeError("not an account id");
  const domain = accountId === null ? DOMAIN : `${OWN_DOMAIN}${accountId}\n`;
  return Buffer.from(`${domain}${canonicalJson(manifest)}`);
}

/**
 * True when `signature` (base64) is that of the key for exactly this manifest, and for exactly this account (null: for every
 * Island). Source: RFC 8032, Ed25519.
 */
export function isSigned(
  manifest: CargoManifest,
  signature: string,
  publicKey: KeyObject,
  accountId: string | null = null,
): boolean {
  if (!SIGNATURE_PATTERN.test(signature)) return false;
  try {
    return verify(null, signedBytes(manifest, accountId), publicKey, Buffer.from(signature, "base64"));
  } catch {
    // What cannot be written, whatever it is, nobody has signed.
    return false;
  }
}

/** Whether a coordinator may have said this of an account: 1 to 64 letters, digits, `_` and `-`. */
export function isAccountId(text: string): boolean {
  return ACCOUNT_PATTERN.test(text);
}

/** The key of a text that {@link publicKeyText} wrote; undefined for any other text. */
export function readPublicKey(text: string): KeyObject | undefined {
  if (!PUBLIC_KEY_PATTERN.test(text)) return undefined;
  const x = Buffer.from(text, "base64").toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** The 32 bytes of an Ed25519 public key in base64. */
export function publicKeyText(key: KeyObject): string {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url").toString("base64");
}

/** For people to compare: `SHA256:` and the hash of the key's 32 bytes in base64 without padding, as OpenSSH writes it. */
export function fingerprintOf(publicKey: string): string {
  const hash = createHash("sha256").update(Buffer.from(publicKey, "base64")).digest("base64");
  return `SHA256:${hash.replace("=", "")}`;
}

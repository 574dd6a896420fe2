import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";
import type { CargoManifest } from "./cargo.ts";

/** Domain-separation prefix. It prevents the signature from being valid for any other kind of data. */
const DOMAIN = "atoll.cargo.v1\n";
/** Prefix for a Cargo that only its owner's Islands may run; the account id and a line feed follow. */
const OWN_DOMAIN = "atoll.cargo.own.v1\n";
/** Prefix for endorsements, which are signed with other keys than the coordinator's. */
const ENDORSED_DOMAIN = "atoll.cargo.endorsed.v1\n";
/** Response header of an Island's upgrade request: the coordinator's public key, as {@link publicKeyText}. */
export const PUBLIC_KEY_HEADER = "atoll-public-key";
/** Header of the same response if the token was accepted: the account that owns the Island. */
export const ACCOUNT_HEADER = "atoll-account";

/** 32 bytes in base64. */
const PUBLIC_KEY_PATTERN = /^[A-Za-z0-9+/]{43}=$/;
/** Account ids are single-line, so that an id cannot extend into the manifest after it. */
const ACCOUNT_PATTERN = /^[\w-]{1,64}$/;
/** 64 bytes in base64. */
const SIGNATURE_PATTERN = /^[A-Za-z0-9+/]{86}==$/;

/**
 * Returns the bytes that are signed for a Cargo: every field of its manifest as it is sent, including fields that this
 * version does not know. docs/reference/cargo-format.md has test vectors.
 * @param accountId the only account whose Islands may run the Cargo; null for all Islands of the network
 * @throws {TypeError} if the manifest cannot be written as canonical JSON.
 * @throws {RangeError} for an invalid account id
 */
export function signedBytes(manifest: CargoManifest, accountId: string | null = null): Buffer {
  if (accountId !== null && !isAccountId(accountId)) throw new RangeError("must be an account id");
  const domain = accountId === null ? DOMAIN : `${OWN_DOMAIN}${accountId}\n`;
  return Buffer.from(`${domain}${canonicalJson(manifest)}`);
}

/**
 * Returns whether `signature` (base64) is valid for this manifest and account, which is null for all Islands. Source:
 * RFC 8032.
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
    // A manifest that cannot be written as canonical JSON cannot have been signed.
    return false;
  }
}

/** Signature of a manifest with another key than the coordinator's, for owners of Islands who trust that key. */
export interface Endorsement {
  /** Key in the form of {@link publicKeyText}. */
  readonly publicKey: string;
  /** Ed25519 signature of {@link endorsedBytes}, base64. */
  readonly signature: string;
}

/**
 * Returns the bytes that an endorsement signs. The prefix differs, so that a coordinator's signature is not an
 * endorsement. @throws {TypeError}
 */
export function endorsedBytes(manifest: CargoManifest): Buffer {
  return Buffer.from(`${ENDORSED_DOMAIN}${canonicalJson(manifest)}`);
}

/** Returns whether the endorsement's own key signed exactly this manifest. */
export function verifyEndorsement(manifest: CargoManifest, { publicKey, signature }: Endorsement): boolean {
  const key = readPublicKey(publicKey);
  if (key === undefined || !SIGNATURE_PATTERN.test(signature)) return false;
  try {
    return verify(null, endorsedBytes(manifest), key, Buffer.from(signature, "base64"));
  } catch {
    // A manifest that cannot be written as canonical JSON cannot have been signed.
    return false;
  }
}

/** Returns whether `text` has the form of an account id: 1 to 64 letters, digits, `_` and `-`. */
export function isAccountId(text: string): boolean {
  return ACCOUNT_PATTERN.test(text);
}

/** Reads the text of {@link publicKeyText}; undefined for any other text. */
export function readPublicKey(text: string): KeyObject | undefined {
  if (!PUBLIC_KEY_PATTERN.test(text)) return undefined;
  const x = Buffer.from(text, "base64").toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** Returns the 32 bytes of an Ed25519 public key in base64. */
export function publicKeyText(key: KeyObject): string {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url").toString("base64");
}

/**
 * Returns a fingerprint for people to compare, in OpenSSH's form: `SHA256:` and the hash of the key's 32 bytes in
 * base64 without padding.
 */
export function fingerprintOf(publicKey: string): string {
  const hash = createHash("sha256").update(Buffer.from(publicKey, "base64")).digest("base64");
  return `SHA256:${hash.replace("=", "")}`;
}

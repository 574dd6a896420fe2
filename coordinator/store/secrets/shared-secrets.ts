/**
 * Names of secrets. `proofs`: 32 bytes that sign attempt tokens. `signing`: private key in PEM that signs Cargos.
 * `signing_in_use`: public key of the last start in base64, which is not secret and only informs.
 */
export const SECRET_NAMES = ["proofs", "signing", "signing_in_use"] as const;
export type SecretName = (typeof SECRET_NAMES)[number];

/** Secrets that all coordinators of a network share. */
export interface SharedSecrets {
  locationOf(name: SecretName): string;
  /** Returns a secret; null if it does not exist. @throws {DatabaseError} if it was encrypted with another key. */
  read(name: SecretName): Promise<Buffer | null>;
  /** Stores `value` unless there is a value. Returns the stored one, the same for all concurrent callers. */
  add(name: SecretName, value: Buffer): Promise<Buffer>;
  /** Replaces the value atomically: readers see the old or the new one. */
  replace(name: SecretName, value: Buffer): Promise<void>;
  /** Returns false if other users of the machine can read the secret. */
  isPrivate(name: SecretName): Promise<boolean>;
}

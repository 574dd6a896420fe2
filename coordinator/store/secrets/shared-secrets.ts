/**
 * `proofs`: 32 bytes that sign attempt tokens. `signing`: private key that signs Cargos, in PEM. `signing_in_use`: public
 * key of the last start in base64; not secret, for information.
 */
export const SECRET_NAMES = ["proofs", "signing", "signing_in_use"] as const;
export type SecretName = (typeof SECRET_NAMES)[number];

/** Secrets that all coordinators of a network share. */
export interface SharedSecrets {
  /** For messages. */
  locationOf(name: SecretName): string;
  /** Returns null if it does not exist. @throws {DatabaseError} if it was sealed with another key. */
  read(name: SecretName): Promise<Buffer | null>;
  /** Stores `value` unless there is one already. All concurrent callers get the same. */
  add(name: SecretName, value: Buffer): Promise<Buffer>;
  /** Readers see the old or the new one. */
  replace(name: SecretName, value: Buffer): Promise<void>;
  /** Returns false if other users of the machine can read it. */
  isPrivate(name: SecretName): Promise<boolean>;
}

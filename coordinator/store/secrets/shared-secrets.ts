/**
 * `proofs`: 32 bytes that proofs of attempts are made with. `signing`: the private key that signs Cargos, in PEM. `signing_in_use`: the
 * public key of the last start in base64; not secret, it informs people.
 */
export const SECRET_NAMES = ["proofs", "signing", "signing_in_use"] as const;
export type SecretName = (typeof SECRET_NAMES)[number];

/** Secrets that all coordinators of a network have in common. */
export interface SharedSecrets {
  /** Where it is kept, for messages. */
  placeOf(name: SecretName): string;
  /** Null if there is none. @throws {DatabaseError} if it was sealed with another key. */
  read(name: SecretName): Promise<Buffer | null>;
  /** Stores `value` unless there is one already. All who try at once get the same. */
  add(name: SecretName, value: Buffer): Promise<Buffer>;
  /** Stores `value` in place of what there is. Readers see the old or the new one. */
  replace(name: SecretName, value: Buffer): Promise<void>;
  /** False if other users of the machine can read it. */
  isPrivate(name: SecretName): Promise<boolean>;
}

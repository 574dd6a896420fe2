/** How long it is known what ended. */
export const ENDS_KEPT_MS = 3_600_000;

/** What ended, and whether anything changed, where several coordinators share the credentials. */
export interface CredentialChanges {
  /**
   * The revision of the credentials (`AccountStore.credentialsRevision`), and those that have ended since `revision`: ids of API keys and
   * Island tokens, hashes of session tokens. Ends are kept for {@link ENDS_KEPT_MS}. Null: none are asked for. `atMs`: by the clock that
   * ends are kept by.
   */
  since(
    revision: number | null,
  ): Promise<{ readonly revision: number; readonly ended: readonly string[]; readonly atMs: number }>;
  /** Those of `credentials` that are no credentials any more. For who has not asked for so long that ends may be forgotten. */
  endedOf(credentials: readonly string[]): Promise<readonly string[]>;
}

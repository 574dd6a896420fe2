/** What ended, and whether anything changed, where several coordinators share the credentials. */
export interface CredentialChanges {
  /**
   * The revision of the credentials (`AccountStore.credentialsRevision`), and those that have ended since `revision`: ids of API keys and
   * Island tokens, hashes of session tokens. Ends are kept for an hour. Null: none are asked for.
   */
  since(revision: number | null): Promise<{ readonly revision: number; readonly ended: readonly string[] }>;
}

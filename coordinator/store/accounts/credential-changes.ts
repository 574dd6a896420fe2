import { read, type Opened } from "../steps/steps.ts";
import { integer, key, Table } from "../steps/table.ts";
import type { Tx } from "../steps/tx.ts";

/** Retention of ended credentials. */
export const ENDS_KEPT_MS = 3_600_000;

/** A single row, whose number triggers increment with every change of credentials. */
export const credentialsRevisionTable = new Table("credentials_revision", { revision: integer() }, { hasRowid: true });

/** Ended credentials, recorded by triggers. */
export const credentialEndTable = new Table(
  "credential_ends",
  { revision: integer(), credential: key(), atMs: integer() },
  {
    onlyIn: "postgres",
    indexes: ["CREATE INDEX credential_ends_by_revision ON credential_ends (revision)"],
  },
);

/** Clock of the database, which timestamps ends. */
const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)";

/** Changes of credentials that several coordinators share, in PostgreSQL. */
export const credentialChangeSteps = {
  /**
   * Returns the credential revision (`credentialsRevision`) and the credentials that have ended since `revision`: ids of API keys and
   * Island tokens, hashes of session tokens. With null, returns no ended credentials. Ends are kept for {@link ENDS_KEPT_MS}. `atMs`: time
   * by the clock of the database.
   */
  since: read((tx, revision: number | null) =>
    // A single statement, so that both values are consistent.
    tx.only<{ readonly revision: number; readonly ended: readonly string[]; readonly atMs: number }>(
      `SELECT revision, ARRAY(SELECT credential FROM credential_ends WHERE credential_ends.revision > @revision) AS ended,
         ${NOW_MS}::bigint AS "atMs" FROM credentials_revision`,
      { revision: revision ?? Number.MAX_SAFE_INTEGER },
    ),
  ),
};

export type CredentialChanges = Opened<typeof credentialChangeSteps>;

/** Deletes ends that all coordinators have seen. */
export async function pruneCredentialEnds(tx: Tx): Promise<void> {
  await tx.run(`DELETE FROM credential_ends WHERE at_ms < ${NOW_MS} - @keptMs`, { keptMs: ENDS_KEPT_MS });
}

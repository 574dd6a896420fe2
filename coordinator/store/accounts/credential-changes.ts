import { read, type Opened } from "../steps/steps.ts";
import { integer, key, Table } from "../steps/table.ts";
import { DATABASE_NOW_MS, type Tx } from "../steps/tx.ts";

/** Retention of the rows of `credential_ends`. After half this time without a read, all are checked. */
export const ENDS_KEPT_MS = 3_600_000;

/** A single row with the credential revision. Triggers increment it with every change of a credential. */
export const credentialsRevisionTable = new Table("credentials_revision", { revision: integer() }, { hasRowid: true });

/** Revoked or deleted credentials, recorded by triggers with the revision of their end. */
export const credentialEndTable = new Table(
  "credential_ends",
  { revision: integer(), credential: key(), atMs: integer() },
  {
    onlyIn: "postgres",
    indexes: ["CREATE INDEX credential_ends_by_revision ON credential_ends (revision)"],
  },
);

/** Reads changes of credentials made by other coordinators. PostgreSQL only. */
export const credentialChangeSteps = {
  /**
   * Returns the credential revision, the credentials that ended after `revision` (none if it is null) and the database
   * time. Credentials are ids of API keys and Island tokens, and hashes of session tokens.
   */
  since: read((tx, revision: number | null) =>
    // A single statement reads one snapshot, so that both values are consistent.
    tx.only<{ readonly revision: number; readonly ended: readonly string[]; readonly atMs: number }>(
      `SELECT revision, ARRAY(SELECT credential FROM credential_ends WHERE credential_ends.revision > @revision) AS ended,
         ${DATABASE_NOW_MS}::bigint AS "atMs" FROM credentials_revision`,
      { revision: revision ?? Number.MAX_SAFE_INTEGER },
    ),
  ),
};

export type CredentialChanges = Opened<typeof credentialChangeSteps>;

export async function pruneCredentialEnds(tx: Tx): Promise<void> {
  await tx.run(`DELETE FROM credential_ends WHERE at_ms < ${DATABASE_NOW_MS} - @keptMs`, { keptMs: ENDS_KEPT_MS });
}

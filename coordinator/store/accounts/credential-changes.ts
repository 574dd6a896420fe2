import { read, type Opened } from "../steps/steps.ts";
import { integer, key, Table } from "../steps/table.ts";
import { DATABASE_NOW_MS, type Tx } from "../steps/tx.ts";

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

/** Changes of credentials that several coordinators share, in PostgreSQL. */
export const credentialChangeSteps = {
  /**
   * Returns the credential revision and the credentials that have ended since `revision`, none if it is null: ids of
   * API keys and Island tokens, hashes of session tokens. `atMs`: time by the clock of the database.
   */
  since: read((tx, revision: number | null) =>
    // A single statement, so that both values are consistent.
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

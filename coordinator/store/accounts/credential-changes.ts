import { read, type Opened } from "../steps/steps.ts";
import { integer, key, Table } from "../steps/table.ts";
import type { Tx } from "../steps/tx.ts";

/** How long it is known what ended. */
export const ENDS_KEPT_MS = 3_600_000;

/** One row: a number that triggers raise with every change of credentials. */
export const credentialsRevisionTable = new Table("credentials_revision", { revision: integer() }, { hasRowid: true });

/** Credentials that ended, by triggers. */
export const credentialEndTable = new Table(
  "credential_ends",
  { revision: integer(), credential: key(), atMs: integer() },
  {
    onlyIn: "postgres",
    indexes: ["CREATE INDEX credential_ends_by_revision ON credential_ends (revision)"],
  },
);

/** By the clock that ends are kept by. */
const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)";

/** What ended, and whether anything changed, where several coordinators share the credentials: in PostgreSQL. */
export const credentialChangeSteps = {
  /**
   * The revision of the credentials (`credentialsRevision`), and those that have ended since `revision`: ids of API keys and Island
   * tokens, hashes of session tokens. Ends are kept for {@link ENDS_KEPT_MS}. Null: none are asked for. `atMs`: by the clock that ends are
   * kept by.
   */
  since: read((tx, revision: number | null) =>
    // One statement, so that both are of one moment.
    tx.only<{ readonly revision: number; readonly ended: readonly string[]; readonly atMs: number }>(
      `SELECT revision, ARRAY(SELECT credential FROM credential_ends WHERE credential_ends.revision > @revision) AS ended,
         ${NOW_MS}::bigint AS "atMs" FROM credentials_revision`,
      { revision: revision ?? Number.MAX_SAFE_INTEGER },
    ),
  ),
};

export type CredentialChanges = Opened<typeof credentialChangeSteps>;

/** Forgets ends that all coordinators have seen. */
export async function pruneCredentialEnds(tx: Tx): Promise<void> {
  await tx.run(`DELETE FROM credential_ends WHERE at_ms < ${NOW_MS} - @keptMs`, { keptMs: ENDS_KEPT_MS });
}

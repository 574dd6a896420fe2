import type { CredentialChanges } from "../../credential-changes.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";

const KEPT_MS = 3_600_000;

export class PostgresCredentialChanges implements CredentialChanges {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  since(revision: number | null): ReturnType<CredentialChanges["since"]> {
    return this.#db.use(async (session) => {
      // One statement, so that both are of one moment.
      const row = await session.one<{ revision: number; ended: string[] }>(
        `SELECT revision, ARRAY(SELECT credential FROM credential_ends WHERE credential_ends.revision > $1) AS ended
         FROM credentials_revision`,
        [revision ?? Number.MAX_SAFE_INTEGER],
      );
      if (row === undefined) throw new Error("The revision of the credentials is missing from the database");
      return row;
    });
  }
}

/** Forgets ends that all coordinators have seen. */
export async function pruneCredentialEnds(session: Session): Promise<void> {
  await session.run("DELETE FROM credential_ends WHERE at_ms < extract(epoch FROM clock_timestamp()) * 1000 - $1", [
    KEPT_MS,
  ]);
}

import { ENDS_KEPT_MS, type CredentialChanges } from "../../credential-changes.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";

export class PostgresCredentialChanges implements CredentialChanges {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  since(revision: number | null): ReturnType<CredentialChanges["since"]> {
    return this.#db.use(async (session) => {
      // One statement, so that both are of one moment.
      const row = await session.one<{ revision: number; ended: string[]; atMs: number }>(
        `SELECT revision, ARRAY(SELECT credential FROM credential_ends WHERE credential_ends.revision > $1) AS ended,
           (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "atMs"
         FROM credentials_revision`,
        [revision ?? Number.MAX_SAFE_INTEGER],
      );
      if (row === undefined) throw new Error("The revision of the credentials is missing from the database");
      return row;
    });
  }

  endedOf(credentials: readonly string[]): Promise<readonly string[]> {
    return this.#db.use(async (session) => {
      const rows = await session.all<{ credential: string }>(
        `SELECT credential FROM unnest($1::text[]) AS credential
         WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE id = credential AND revoked_at_ms IS NULL)
           AND NOT EXISTS (SELECT 1 FROM island_tokens WHERE id = credential AND revoked_at_ms IS NULL)
           AND NOT EXISTS (SELECT 1 FROM sessions WHERE token_hash = credential)`,
        [credentials],
      );
      return rows.map(({ credential }) => credential);
    });
  }
}

/** Forgets ends that all coordinators have seen. */
export async function pruneCredentialEnds(session: Session): Promise<void> {
  await session.run("DELETE FROM credential_ends WHERE at_ms < extract(epoch FROM clock_timestamp()) * 1000 - $1", [
    ENDS_KEPT_MS,
  ]);
}

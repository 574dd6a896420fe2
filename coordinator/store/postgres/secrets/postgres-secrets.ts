import { DatabaseError } from "../../database-error.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import type { SecretName, SharedSecrets } from "../../secrets/shared-secrets.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";

/** Shared secrets as rows encrypted with the cluster key, so that a copy of the database does not reveal them. */
export function postgresSecrets(db: Pick<Database, "use">, box: Pick<SecretBox, "seal" | "unseal">): SharedSecrets {
  const locationOf = (name: SecretName): string => `The secret ${name} of the database`;
  const select = async (session: Session, name: SecretName): Promise<Buffer | null> => {
    const row = await session.one<{ sealed: string }>("SELECT sealed FROM secrets WHERE name = $1", [name]);
    const text = row && box.unseal(row.sealed);
    if (text !== null) return text === undefined ? null : Buffer.from(text, "base64");
    const reason = "is encrypted with another cluster_key. Use the key of the other coordinators of this database";
    throw new DatabaseError(locationOf(name), reason);
  };
  const insert = (session: Session, name: SecretName, value: Buffer, rule: string): Promise<number> => {
    const sql = `INSERT INTO secrets (name, sealed) VALUES ($1, $2) ON CONFLICT (name) ${rule}`;
    return session.run(sql, [name, box.seal(value.toString("base64"))]);
  };
  return {
    locationOf,
    read: (name) => db.use((session) => select(session, name)),
    add: (name, value) =>
      db.use(async (session) => {
        await insert(session, name, value, "DO NOTHING");
        return (await select(session, name)) ?? value;
      }),
    replace: (name, value) =>
      db.use(async (session) => void (await insert(session, name, value, "DO UPDATE SET sealed = excluded.sealed"))),
    isPrivate: async () => true,
  };
}

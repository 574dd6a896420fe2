import { DatabaseError } from "../../database-error.ts";
import type { SecretBox } from "../../secret-box.ts";
import type { SecretName, SharedSecrets } from "../../shared-secrets.ts";
import type { Database } from "../engine/database.ts";

/** The secrets of a network: rows of its database, sealed with the cluster key, so that a copy of the database alone has none of them. */
export class PostgresSecrets implements SharedSecrets {
  readonly #db: Database;
  readonly #box: Pick<SecretBox, "seal" | "unseal">;

  constructor(db: Database, box: Pick<SecretBox, "seal" | "unseal">) {
    this.#db = db;
    this.#box = box;
  }

  placeOf(name: SecretName): string {
    return `The secret ${name} of the database`;
  }

  read(name: SecretName): Promise<Buffer | null> {
    return this.#db.use(async (session) => {
      const sql = "SELECT sealed FROM secrets WHERE name = $1";
      const row = await session.one<{ sealed: string }>(sql, [name]);
      return row === undefined ? null : this.#open(name, row.sealed);
    });
  }

  add(name: SecretName, value: Buffer): Promise<Buffer> {
    return this.#db.use(async (session) => {
      const sql = "INSERT INTO secrets (name, sealed) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
      await session.run(sql, [name, this.#seal(value)]);
      const row = await session.one<{ sealed: string }>("SELECT sealed FROM secrets WHERE name = $1", [name]);
      return row === undefined ? value : this.#open(name, row.sealed);
    });
  }

  replace(name: SecretName, value: Buffer): Promise<void> {
    return this.#db.use(async (session) => {
      const sql =
        "INSERT INTO secrets (name, sealed) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed";
      await session.run(sql, [name, this.#seal(value)]);
    });
  }

  async isPrivate(): Promise<boolean> {
    return true;
  }

  #seal(value: Buffer): string {
    return this.#box.seal(value.toString("base64"));
  }

  #open(name: SecretName, sealed: string): Buffer {
    const text = this.#box.unseal(sealed);
    if (text !== null) return Buffer.from(text, "base64");
    throw new DatabaseError(
      this.placeOf(name),
      "was sealed with another cluster_key; use the one that the other coordinators of this database have",
    );
  }
}

import { randomBytes } from "node:crypto";
import pg from "pg";
import { SecretBox } from "../../../coordinator/store/secrets/secret-box.ts";
import { migrate } from "../../../coordinator/store/postgres/engine/migrate.ts";
import { MIGRATIONS } from "../../../coordinator/store/postgres/migrations.ts";
import { postgresStore, type PostgresStore } from "../../../coordinator/store/postgres/postgres-store.ts";
import type { Clock } from "../../../shared/clock.ts";
import { PostgresServer } from "./postgres-server.ts";

/** A migrated database on its own server. It can be emptied quickly. */
export class PostgresDatabase implements AsyncDisposable {
  readonly address: string;
  readonly server: PostgresServer;
  readonly #admin: pg.Client;
  readonly #secrets = new SecretBox(randomBytes(32));
  #empty = "";

  private constructor(server: PostgresServer, address: string) {
    this.server = server;
    this.address = address;
    this.#admin = new pg.Client(address);
  }

  /** Opens a database. @throws if PostgreSQL is not installed. */
  static async open(): Promise<PostgresDatabase> {
    const server = await PostgresServer.start();
    const database = new PostgresDatabase(server, await server.createDatabase("test"));
    await database.#migrate();
    return database;
  }

  /** Returns a store for a coordinator with this id. */
  store(clock: Clock, ownerId = "c1"): PostgresStore {
    return postgresStore({ address: this.address, clock, ownerId, secrets: this.#secrets });
  }

  /** Deletes all data of stores. */
  async empty(): Promise<void> {
    await this.#admin.query(this.#empty);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#admin.end();
    await this.server[Symbol.asyncDispose]();
  }

  async #migrate(): Promise<void> {
    await migrate(this.address, MIGRATIONS, 1);
    await this.#admin.connect();
    // Triggers prevent the audit log from being emptied.
    await this.#admin.query("SET session_replication_role = replica");
    const { rows } = await this.#admin.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'",
    );
    this.#empty = `TRUNCATE ${rows.map(({ name }) => name).join(", ")};
      INSERT INTO balances VALUES ('network', 0);
      INSERT INTO checks VALUES (1, 0);
      INSERT INTO catalog_revision VALUES (1, 0);
      INSERT INTO earnings_cursor VALUES (0, 0, '0');
      INSERT INTO usage_cursor VALUES (0, 0, '0');
      INSERT INTO credentials_revision VALUES (0)`;
  }
}

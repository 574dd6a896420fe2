import type { JobPlaces } from "../../job-places.ts";
import type { BatchWriter } from "../engine/batch-writer.ts";
import type { Database } from "../engine/database.ts";

export class PostgresJobPlaces implements JobPlaces {
  readonly #db: Database;
  readonly #writer: BatchWriter;

  constructor(db: Database, writer: BatchWriter) {
    this.#db = db;
    this.#writer = writer;
  }

  take(accountId: string, jobIds: readonly string[], limit: number): Promise<readonly string[]> {
    return this.#db.track(() => this.#writer.run(accountId, "takePlaces", { accountId, jobIds, limit }));
  }
}

import type { JobPlaces } from "../../job-places.ts";
import type { BatchWriter } from "../engine/batch-writer.ts";

export class PostgresJobPlaces implements JobPlaces {
  readonly #writer: BatchWriter;

  constructor(writer: BatchWriter) {
    this.#writer = writer;
  }

  take(accountId: string, jobIds: readonly string[], limit: number): Promise<readonly string[]> {
    return this.#writer.run(accountId, "takePlaces", { accountId, jobIds, limit });
  }
}

import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { Tally } from "../../shared/tally.ts";
import type { FileUsage } from "../store/files.ts";
import type { Store } from "../store/store.ts";

/** They are counted row by row. */
const COUNT_EVERY_MS = 60_000;

export interface FileFiguresDeps {
  readonly store: Pick<Store, "files">;
  readonly clock: Pick<Clock, "now">;
}

/** What files of accounts are measured by. */
export class FileFigures {
  readonly refusals = new Tally({
    name: "atoll_file_refusals_total",
    help: "Files that were not taken since the coordinator started, by the code of the refusal",
    labelNames: ["code"],
  });
  readonly #deps: FileFiguresDeps;
  #kept: Promise<FileUsage> = Promise.resolve({ files: 0, bytes: 0 });
  #countedAtMs = -Infinity;

  constructor(deps: FileFiguresDeps) {
    this.#deps = deps;
    for (const code of ["payload_too_large", "file_budget_exceeded", "disk_full"]) this.refusals.add([code], 0);
  }

  /** All files of the network, and the bytes of their contents on disk, as of a minute ago or less; while storage is away as before. */
  kept(): Promise<FileUsage> {
    const nowMs = this.#deps.clock.now();
    if (nowMs >= this.#countedAtMs + COUNT_EVERY_MS) [this.#countedAtMs, this.#kept] = [nowMs, this.#count(this.#kept)];
    return this.#kept;
  }

  /** Runs `take`, and counts its refusal. */
  async counted<T>(take: () => Promise<T>): Promise<T> {
    try {
      return await take();
    } catch (error) {
      if (error instanceof ServiceError) this.refusals.add([error.code]);
      throw error;
    }
  }

  async #count(before: Promise<FileUsage>): Promise<FileUsage> {
    try {
      return await this.#deps.store.files.total();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return before;
    }
  }
}

import type { JobInput } from "./job-store.ts";
import { REFUSALS } from "./refusals.ts";

/** Queries at a time; what is asked for meanwhile shares the next one. */
const MAX_QUERIES = 2;
/** Inputs in a query. */
const MAX_INPUTS = 64;

interface Asked {
  readonly jobId: string;
  readonly resolve: (input: JobInput) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads the inputs of jobs that begin, those of several jobs with one query: Islands with many slots begin as many jobs at once. */
export class InputReads {
  /** Inputs as JSON, by job. */
  readonly #query: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  #asked: Asked[] = [];
  #queries = 0;

  constructor(query: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, string>>) {
    this.#query = query;
  }

  /** @throws {ServiceError} `not_found` for an unknown job, and one whose input was removed. */
  read(jobId: string): Promise<JobInput> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ jobId, resolve, reject });
      // In a microtask, so that the calls of one turn share a query.
      queueMicrotask(() => void this.#readAsked());
    });
  }

  async #readAsked(): Promise<void> {
    if (this.#queries >= MAX_QUERIES) return;
    this.#queries += 1;
    while (this.#asked.length > 0) {
      // oxlint-disable-next-line no-await-in-loop -- One query after the other.
      await this.#readPart(this.#asked.splice(0, MAX_INPUTS));
    }
    this.#queries -= 1;
  }

  async #readPart(asked: readonly Asked[]): Promise<void> {
    try {
      const inputs = await this.#query(asked.map(({ jobId }) => jobId));
      for (const { jobId, resolve, reject } of asked) {
        const input = inputs.get(jobId);
        if (input === undefined) reject(REFUSALS.no_job());
        else resolve(JSON.parse(input) as JobInput);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}

import type { Http } from "../http.ts";
import type { QueryOf, Operation } from "../operation.ts";
import type { CreateFileBatch, FileBatch } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export type FileBatchFilter = QueryOf<Operation<"get", "/batches">>;

/** OpenAI-compatible batches: each line of a JSONL file is a request, and the results are files. */
export class FileBatches {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Creates a batch. The call is not retried after a broken connection, because a repeat would create a second batch.
   */
  create(batch: Omit<CreateFileBatch, "completion_window">, options?: CallOptions): Promise<FileBatch> {
    return this.#http.call("post", "/batches", { body: { ...batch, completion_window: "24h" } }, options);
  }

  /** Returns a batch with `status`, `request_counts` and, once it has ended, the ids of its files. */
  get(id: string, options?: CallOptions): Promise<FileBatch> {
    return this.#http.call("get", "/batches/{id}", { path: { id } }, options);
  }

  /** Cancels a batch. The results of finished lines stay in its files. No-op for a batch that has ended. */
  cancel(id: string, options?: CallOptions): Promise<FileBatch> {
    return this.#http.call("post", "/batches/{id}/cancel", { path: { id } }, options, { isIdempotent: true });
  }

  /** Iterates over all batches, newest first, loading page by page. */
  async *list(filter: FileBatchFilter = {}, options?: CallOptions): AsyncGenerator<FileBatch, void, undefined> {
    for (let after = filter.after; ;) {
      const page = await this.#http.call("get", "/batches", { query: { ...filter, after } }, options);
      yield* page.data;
      if (!page.has_more || page.last_id === null) return;
      after = page.last_id;
    }
  }
}

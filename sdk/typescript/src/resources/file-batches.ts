import type { Http } from "../http.ts";
import type { QueryOf, Operation } from "../operation.ts";
import type { CreateFileBatch, FileBatch } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export type FileBatchFilter = QueryOf<Operation<"get", "/batches">>;

/** Batches over JSONL files, in OpenAI's shape: each line is a request, and the results are files. */
export class FileBatches {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A repeat after a cut connection would make a second one, so there is none. */
  create(batch: Omit<CreateFileBatch, "completion_window">, options?: CallOptions): Promise<FileBatch> {
    return this.#http.call("post", "/batches", { body: { ...batch, completion_window: "24h" } }, options);
  }

  /** How far it is: `status`, `request_counts`, and at the end the ids of its files. */
  get(id: string, options?: CallOptions): Promise<FileBatch> {
    return this.#http.call("get", "/batches/{id}", { path: { id } }, options);
  }

  /** Lines that were answered stay in its files. One that has ended stays as it is. */
  cancel(id: string, options?: CallOptions): Promise<FileBatch> {
    return this.#http.call("post", "/batches/{id}/cancel", { path: { id } }, options, { isIdempotent: true });
  }

  /** All batches, newest first, page by page while you iterate. */
  async *list(filter: FileBatchFilter = {}, options?: CallOptions): AsyncGenerator<FileBatch, void, undefined> {
    for (let after = filter.after; ;) {
      const page = await this.#http.call("get", "/batches", { query: { ...filter, after } }, options);
      yield* page.data;
      if (!page.has_more || page.last_id === null) return;
      after = page.last_id;
    }
  }
}

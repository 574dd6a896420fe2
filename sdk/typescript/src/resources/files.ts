import { deleteOnce } from "../delete-once.ts";
import type { QueryOf, Operation } from "../operation.ts";
import type { Http } from "../http.ts";
import type { File } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export type FileFilter = QueryOf<Operation<"get", "/files">>;

export interface NewFile {
  readonly content: Blob;
  readonly filename: string;
  /** Purpose of the file; default: `user_data`. */
  readonly purpose?: File["purpose"];
  /** Lifetime, from 3,600 s to 30 days; default: the coordinator's. */
  readonly expiresAfterS?: number;
}

/** Timeout of uploads: the time that the coordinator waits for them. */
const UPLOAD = { defaultTimeoutMs: 120_000 };

/** Files for large inputs and outputs, on the coordinator's disk. */
export class Files {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Uploads a file. The call is not retried after a broken connection, because a repeat would create a second file. */
  upload({ content, filename, purpose = "user_data", expiresAfterS }: NewFile, options?: CallOptions): Promise<File> {
    const form = new FormData();
    form.append("purpose", purpose);
    if (expiresAfterS !== undefined) {
      form.append("expires_after[anchor]", "created_at");
      form.append("expires_after[seconds]", String(expiresAfterS));
    }
    form.append("file", content, filename);
    return this.#http.call("post", "/files", {}, options, { ...UPLOAD, form });
  }

  get(id: string, options?: CallOptions): Promise<File> {
    return this.#http.call("get", "/files/{id}", { path: { id } }, options);
  }

  content(id: string, options?: CallOptions): Promise<Blob> {
    return this.#http.bytes("get", "/files/{id}/content", { path: { id } }, options, UPLOAD);
  }

  /** Iterates over all files, loading page by page. Default order: newest first. */
  async *list(filter: FileFilter = {}, options?: CallOptions): AsyncGenerator<File, void, undefined> {
    for (let after = filter.after; ;) {
      const page = await this.#http.call("get", "/files", { query: { ...filter, after } }, options);
      yield* page.data;
      if (!page.has_more || page.last_id === null) return;
      after = page.last_id;
    }
  }

  /** Deletes a file. It can no longer be read when this resolves. @throws {NotFoundError} */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/files/{id}", { path: { id } }, options));
  }
}

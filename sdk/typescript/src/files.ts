import { deleteOnce } from "./delete-once.ts";
import type { QueryOf, Operation } from "./operation.ts";
import type { Http } from "./http.ts";
import type { File } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";
import { uploadInParts, type LargeFile, type NewFile } from "./upload-in-parts.ts";

export type FileFilter = QueryOf<Operation<"get", "/files">>;

/** An upload may take as long as the coordinator waits for it. */
const UPLOAD = { defaultTimeoutMs: 120_000 };

/** Large inputs and outputs, on the coordinator's disk. */
export class Files {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Uploads a file. A repeat after a cut connection would make a second one, so there is none. */
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

  /**
   * Uploads a file of any size the coordinator takes, in parts that are tried again by themselves. Who keeps the id that `onUpload` tells
   * goes on after a crash with `uploadId`: only what has not arrived is sent.
   * @throws {AtollError} `upload_not_pending` if that upload ended; start without `uploadId`.
   */
  uploadLarge(file: LargeFile, options?: CallOptions): Promise<File> {
    return uploadInParts(this.#http, file, options);
  }

  /** Gives an upload in parts up. */
  async cancelUpload(uploadId: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/uploads/{id}/cancel", { path: { id: uploadId } }, options, { isIdempotent: true });
  }

  get(id: string, options?: CallOptions): Promise<File> {
    return this.#http.call("get", "/files/{id}", { path: { id } }, options);
  }

  content(id: string, options?: CallOptions): Promise<Blob> {
    return this.#http.bytes("get", "/files/{id}/content", { path: { id } }, options, UPLOAD);
  }

  /** All files, page by page while you iterate; newest first unless told. */
  async *list(filter: FileFilter = {}, options?: CallOptions): AsyncGenerator<File, void, undefined> {
    for (let after = filter.after; ;) {
      const page = await this.#http.call("get", "/files", { query: { ...filter, after } }, options);
      yield* page.data;
      if (!page.has_more || page.last_id === null) return;
      after = page.last_id;
    }
  }

  /** Nobody can read it any more when this resolves. @throws {NotFoundError} */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/files/{id}", { path: { id } }, options));
  }
}

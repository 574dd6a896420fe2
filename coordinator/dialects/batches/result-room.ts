import type { FileApi } from "../../files/file-service.ts";

/** Room of an account that the results of a batch grow into, until they are files. Disposing of it gives the room back. */
export class ResultRoom implements Disposable {
  readonly #files: Pick<FileApi, "receive">;
  readonly #accountId: string;
  readonly #disposed = Promise.withResolvers<void>();

  constructor(files: Pick<FileApi, "receive">, accountId: string) {
    [this.#files, this.#accountId] = [files, accountId];
  }

  /** Resolves when so many bytes more are set aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
  setAside(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const held = this.#files.receive(this.#accountId, bytes, () => {
        resolve();
        return this.#disposed.promise;
      });
      held.catch(reject);
    });
  }

  [Symbol.dispose](): void {
    this.#disposed.resolve();
  }
}

import { assertFileFits, type FileBudget } from "../store/files.ts";
import type { Store } from "../store/store.ts";
import type { FileContents } from "./file-contents.ts";

export interface ArrivingRoomDeps {
  readonly store: Pick<Store, "files">;
  readonly contents: Pick<FileContents, "makeRoom">;
  /** Of an account. */
  readonly budget: FileBudget;
}

/** Room that is set aside for what arrives, so that uploads at once cannot pass the budget or fill the disk together. */
export class ArrivingRoom {
  readonly #deps: ArrivingRoomDeps;
  /** Bytes that uploads in progress may still become, by account. */
  readonly #arriving = new Map<string, number>();

  constructor(deps: ArrivingRoomDeps) {
    this.#deps = deps;
  }

  /** Runs `receive` while room for `maxBytes` is set aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
  async receive<T>(accountId: string, maxBytes: number, receive: () => Promise<T>): Promise<T> {
    const { store, contents, budget } = this.#deps;
    const usage = await store.files.usage(accountId);
    const before = this.#arriving.get(accountId) ?? 0;
    assertFileFits({ ...usage, bytes: usage.bytes + before }, maxBytes, budget);
    this.#arriving.set(accountId, before + maxBytes);
    try {
      await contents.makeRoom([...this.#arriving.values()].reduce((sum, bytes) => sum + bytes, 0));
      return await receive();
    } finally {
      const left = (this.#arriving.get(accountId) ?? 0) - maxBytes;
      if (left > 0) this.#arriving.set(accountId, left);
      else this.#arriving.delete(accountId);
    }
  }
}

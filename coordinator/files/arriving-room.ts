import { Pool, type PoolKey } from "../quotas/pool.ts";
import { assertFileFits } from "../store/file-budget.ts";
import type { FileBudget } from "../store/file-store.ts";
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
  /** Bytes that uploads in progress may still become, and in all also those that are written a second time, from parts into a file. */
  readonly #arriving = new Pool({ account: Infinity, all: Infinity });

  constructor(deps: ArrivingRoomDeps) {
    this.#deps = deps;
  }

  /** Runs `receive` while room for `maxBytes` is set aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
  async receive<T>(accountId: string, maxBytes: number, receive: () => Promise<T>): Promise<T> {
    const { store, budget } = this.#deps;
    const usage = await store.files.usage(accountId);
    const before = this.#arriving.count("account", accountId);
    assertFileFits({ ...usage, bytes: usage.bytes + before }, maxBytes, budget);
    return this.#runWith([["account", accountId], ["all"]], maxBytes, receive);
  }

  /** Runs `copy` while the disk has room for `bytes` that the account has already. @throws {ServiceError} `disk_full` */
  copy<T>(bytes: number, copy: () => Promise<T>): Promise<T> {
    return this.#runWith([["all"]], bytes, copy);
  }

  async #runWith<T>(keys: readonly PoolKey<"account" | "all">[], bytes: number, run: () => Promise<T>): Promise<T> {
    this.#arriving.add(keys, bytes);
    try {
      await this.#deps.contents.makeRoom(this.#arriving.count("all"));
      return await run();
    } finally {
      this.#arriving.add(keys, -bytes);
    }
  }
}

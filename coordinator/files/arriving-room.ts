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
  /** Bytes that uploads in progress may still become. */
  readonly #arriving = new Pool({ account: Infinity, all: Infinity });

  constructor(deps: ArrivingRoomDeps) {
    this.#deps = deps;
  }

  /** Runs `receive` while room for `maxBytes` is set aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
  async receive<T>(accountId: string, maxBytes: number, receive: () => Promise<T>): Promise<T> {
    const { store, contents, budget } = this.#deps;
    const usage = await store.files.usage(accountId);
    const before = this.#arriving.count("account", accountId);
    assertFileFits({ ...usage, bytes: usage.bytes + before }, maxBytes, budget);
    const keys: readonly PoolKey<"account" | "all">[] = [["account", accountId], ["all"]];
    this.#arriving.add(keys, maxBytes);
    try {
      await contents.makeRoom(this.#arriving.count("all"));
      return await receive();
    } finally {
      this.#arriving.add(keys, -maxBytes);
    }
  }
}

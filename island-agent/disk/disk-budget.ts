import { formatBytes } from "../../shared/format-bytes.ts";
import { chooseEvictions } from "./eviction.ts";
import type { StoredItem } from "./stored-item.ts";
import { DiskBudgetExceededError } from "./disk-budget-error.ts";

export interface DiskUsage {
  readonly budgetBytes: number;
  /** Models, parts, and the reservations of running downloads. */
  readonly usedBytes: number;
  /** The part of `usedBytes` that can be evicted now. */
  readonly evictableBytes: number;
}

/**
 * Keeps a store within its budget. Reservations are made one after another, so that two downloads never count on the same free
 * space. `items` lists what is on disk; `evict` forgets and deletes one item.
 */
export class DiskBudget {
  readonly #budgetBytes: number;
  readonly #items: () => readonly StoredItem[];
  readonly #evict: (key: string) => Promise<void>;
  readonly #reserved = new Map<string, number>();
  #turn: Promise<void> = Promise.resolve();

  constructor(budgetBytes: number, items: () => readonly StoredItem[], evict: (key: string) => Promise<void>) {
    this.#budgetBytes = budgetBytes;
    this.#items = items;
    this.#evict = evict;
  }

  /**
   * Reserves at least `bytes` for `key`, and evicts for it if `mayEvict` is true when its turn comes.
   * @throws {DiskBudgetExceededError}
   */
  reserve(key: string, bytes: number, mayEvict: () => boolean = () => true): Promise<void> {
    if (bytes <= (this.#reserved.get(key) ?? -1)) return Promise.resolve();
    const mine = this.#turn.then(() => this.#makeRoom(key, bytes, mayEvict));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /**
   * Checks that the files fit together, beside what is in use and reserved for others. Reserves nothing.
   * @param files length of each file by key; files that are on disk already count once.
   * @param mayEvict whether items that are not in use may be deleted.
   * @throws {DiskBudgetExceededError}
   */
  assertFits(files: ReadonlyMap<string, number>, mayEvict = true): void {
    const items = this.#unreservedItems().filter(({ key }) => !files.has(key));
    const keptBytes = sumBytes(items.filter(({ inUse }) => inUse || !mayEvict));
    const reserved = [...this.#reserved].filter(([key]) => !files.has(key));
    const reservedBytes = reserved.reduce((sum, [, bytes]) => sum + bytes, 0);
    const bytes = [...files.values()].reduce((sum, each) => sum + each, 0);
    if (bytes + keptBytes + reservedBytes > this.#budgetBytes) throw this.#doesNotFit(bytes, keptBytes);
  }

  /** The download of `key` has ended. What it left on disk counts as an item from now on. */
  release(key: string): void {
    this.#reserved.delete(key);
  }

  /** Evicts until the store fits the budget, or everything left is in use. */
  trim(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      const { usedBytes, evictableBytes } = this.usage();
      const excess = usedBytes - this.#budgetBytes;
      for (const { key } of chooseEvictions(this.#unreservedItems(), Math.min(excess, evictableBytes)) ?? []) {
        await this.#evict(key);
      }
    });
    return this.#turn;
  }

  /** The part of `usedBytes` that belongs to these keys. */
  takenBytes(keys: ReadonlySet<string>): number {
    const reserved = [...this.#reserved].filter(([key]) => keys.has(key));
    const items = this.#unreservedItems().filter(({ key }) => keys.has(key));
    return sumBytes(items) + reserved.reduce((sum, [, bytes]) => sum + bytes, 0);
  }

  usage(): DiskUsage {
    const items = this.#unreservedItems();
    return {
      budgetBytes: this.#budgetBytes,
      usedBytes: sumBytes(items) + this.#reservedBytes(),
      evictableBytes: sumBytes(items.filter(({ inUse }) => !inUse)),
    };
  }

  async #makeRoom(key: string, bytes: number, mayEvict: () => boolean): Promise<void> {
    const canEvict = mayEvict();
    const others = this.#unreservedItems().filter((item) => item.key !== key);
    const takenBytes = sumBytes(others) + this.#reservedBytes() - (this.#reserved.get(key) ?? 0);
    const chosen = chooseEvictions(canEvict ? others : [], takenBytes + bytes - this.#budgetBytes);
    if (chosen === null) throw this.#doesNotFit(bytes, sumBytes(others.filter(({ inUse }) => inUse || !canEvict)));
    this.#reserved.set(key, bytes);
    for (const item of chosen) await this.#evict(item.key);
  }

  /** Without parts that are being downloaded: their reservations count in place of them. */
  #unreservedItems(): StoredItem[] {
    return this.#items().filter(({ key }) => !this.#reserved.has(key));
  }

  #reservedBytes(): number {
    return [...this.#reserved.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  #doesNotFit(bytes: number, keptBytes: number): DiskBudgetExceededError {
    return new DiskBudgetExceededError(
      `The model needs ${formatBytes(bytes)} on disk. The budget is ${formatBytes(this.#budgetBytes)}: ` +
        `${formatBytes(keptBytes)} are in use and ${formatBytes(this.#reservedBytes())} reserved by downloads. ` +
        "Free space with island models prune, or raise models.disk_budget_gb",
    );
  }
}

function sumBytes(items: readonly StoredItem[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

import { formatBytes } from "../../shared/format-bytes.ts";
import { chooseEvictions } from "./eviction.ts";
import type { StoredItem } from "./stored-item.ts";
import { DiskFullError } from "./disk-full-error.ts";

interface DiskLimits {
  /** Maximum size of the store. */
  readonly budgetBytes: number;
  /** Bytes of the disk that downloads leave free. */
  readonly minFreeBytes: number;
  /** Free bytes of the disk now; null when unknown. */
  readonly freeBytes: () => number | null;
}

export interface DiskUsage {
  readonly budgetBytes: number;
  /** The budget, or the available disk space if that is less. */
  readonly limitBytes: number;
  /** Bytes of models, parts, and reservations of running downloads. */
  readonly usedBytes: number;
  readonly evictableBytes: number;
}

/** Disk space of a running download. */
interface Reservation {
  readonly bytes: number;
  /** Bytes of the reservation that are already on disk. */
  writtenBytes: number;
  /** Returns false for a preload, and for a download that stops. */
  readonly mayEvict: () => boolean;
}

/**
 * Keeps a store within its budget, and the disk from becoming full. Reservations are made one after another, so that
 * two downloads never use the same free space. `items` lists the items on disk; `evict` removes one item.
 */
export class DiskBudget {
  readonly #limits: DiskLimits;
  readonly #items: () => readonly StoredItem[];
  readonly #evict: (key: string) => Promise<void>;
  readonly #reserved = new Map<string, Reservation>();
  #queue: Promise<void> = Promise.resolve();

  constructor(limits: DiskLimits, items: () => readonly StoredItem[], evict: (key: string) => Promise<void>) {
    this.#limits = limits;
    this.#items = items;
    this.#evict = evict;
  }

  /**
   * Reserves at least `bytes` for `key`. Evicts for it if `mayEvict` is true when it reaches the front of the queue.
   * @param writtenBytes the part that is already on disk.
   * @throws {DiskFullError}
   */
  reserve(key: string, bytes: number, writtenBytes: number, mayEvict: () => boolean = () => true): Promise<void> {
    this.recordWritten(key, writtenBytes);
    if (bytes <= (this.#reserved.get(key)?.bytes ?? -1)) return Promise.resolve();
    const mine = this.#queue.then(() => this.#freeSpace(key, { bytes, writtenBytes, mayEvict }));
    this.#queue = mine.catch(() => undefined);
    return mine;
  }

  /** Records how many bytes the download of `key` has on disk. */
  recordWritten(key: string, bytes: number): void {
    const reservation = this.#reserved.get(key);
    if (reservation !== undefined) reservation.writtenBytes = bytes;
  }

  /**
   * Checks that the files fit together with items in use and reservations of others, without reserving space. A job may
   * evict, and reservations of preloads do not count against it: it interrupts them.
   * @param files length of each file by key; files that are already on disk count once.
   * @param mayEvict whether items that are not in use may be deleted.
   * @throws {DiskFullError}
   */
  assertFits(files: ReadonlyMap<string, number>, mayEvict = true): void {
    const items = this.#unreservedItems().filter(({ key }) => !files.has(key));
    const keptBytes = sumBytes(items.filter(({ inUse }) => inUse || !mayEvict));
    const reserved = [...this.#reserved].filter(([key, held]) => !files.has(key) && (!mayEvict || held.mayEvict()));
    const reservedBytes = reserved.reduce((sum, [, { bytes }]) => sum + bytes, 0);
    const bytes = [...files.values()].reduce((sum, each) => sum + each, 0);
    if (bytes + keptBytes + reservedBytes > this.#limitBytes()) throw this.#doesNotFit(bytes, keptBytes);
  }

  /** Ends the reservation of a download. Its bytes on disk then count as an item. */
  release(key: string): void {
    this.#reserved.delete(key);
  }

  /** Evicts until the store fits the budget or only items in use remain. Ignores the free disk space. */
  trim(): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      const { usedBytes, evictableBytes } = this.usage();
      const excess = usedBytes - this.#limits.budgetBytes;
      for (const { key } of chooseEvictions(this.#unreservedItems(), Math.min(excess, evictableBytes)) ?? []) {
        await this.#evict(key);
      }
    });
    return this.#queue;
  }

  /** Returns the part of `usedBytes` that belongs to these keys. */
  takenBytes(keys: ReadonlySet<string>): number {
    const reserved = [...this.#reserved].filter(([key]) => keys.has(key));
    const items = this.#unreservedItems().filter(({ key }) => keys.has(key));
    return sumBytes(items) + reserved.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  }

  usage(): DiskUsage {
    const items = this.#unreservedItems();
    return {
      budgetBytes: this.#limits.budgetBytes,
      limitBytes: this.#limitBytes(),
      usedBytes: sumBytes(items) + this.#reservedBytes(),
      evictableBytes: sumBytes(items.filter(({ inUse }) => !inUse)),
    };
  }

  async #freeSpace(key: string, reservation: Reservation): Promise<void> {
    const { bytes } = reservation;
    const canEvict = reservation.mayEvict();
    const others = this.#unreservedItems().filter((item) => item.key !== key);
    const takenBytes = sumBytes(others) + this.#reservedBytes() - (this.#reserved.get(key)?.bytes ?? 0);
    const chosen = chooseEvictions(canEvict ? others : [], takenBytes + bytes - this.#limitBytes());
    if (chosen === null) throw this.#doesNotFit(bytes, sumBytes(others.filter(({ inUse }) => inUse || !canEvict)));
    this.#reserved.set(key, reservation);
    for (const item of chosen) await this.#evict(item.key);
  }

  /** Excludes parts of running downloads, whose reservations count instead. */
  #unreservedItems(): StoredItem[] {
    return this.#items().filter(({ key }) => !this.#reserved.has(key));
  }

  #reservedBytes(): number {
    return [...this.#reserved.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Returns the store's current limit: the budget, or its bytes on disk plus the free space without the reserve. */
  #limitBytes(): number {
    const { budgetBytes, minFreeBytes, freeBytes } = this.#limits;
    const free = freeBytes();
    if (free === null) return budgetBytes;
    const writtenBytes = [...this.#reserved.values()].reduce((sum, each) => sum + each.writtenBytes, 0);
    return Math.min(budgetBytes, sumBytes(this.#unreservedItems()) + writtenBytes + free - minFreeBytes);
  }

  #doesNotFit(bytes: number, keptBytes: number): DiskFullError {
    const { budgetBytes, minFreeBytes, freeBytes } = this.#limits;
    const free = freeBytes();
    if (free !== null && this.#limitBytes() < budgetBytes) return lowDiskError("model", bytes, free, minFreeBytes);
    return new DiskFullError(
      `The model needs ${formatBytes(bytes)} on disk. The budget is ${formatBytes(budgetBytes)}: ` +
        `${formatBytes(keptBytes)} are in use and ${formatBytes(this.#reservedBytes())} are reserved by downloads. ` +
        "Free space with island models prune, or raise models.disk_budget_gb",
    );
  }
}

/** @param neededBytes null when unknown. */
export function lowDiskError(
  what: "model" | "image",
  neededBytes: number | null,
  freeBytes: number,
  minFreeBytes: number,
): DiskFullError {
  const need = neededBytes === null ? "space" : formatBytes(neededBytes);
  return new DiskFullError(
    `The ${what} needs ${need} on disk. ${formatBytes(freeBytes)} are free, and ${formatBytes(minFreeBytes)} must stay free ` +
      "(models.min_free_gb). Free space, for example with island models prune, or lower models.min_free_gb",
  );
}

function sumBytes(items: readonly StoredItem[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

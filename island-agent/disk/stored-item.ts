/** An item on disk that a store keeps and may delete. */
export interface StoredItem {
  readonly key: string;
  readonly bytes: number;
  /** Unix time in ms. It is also the order of use: no two items of one store have the same. */
  readonly lastUsedMs: number;
  /** True if leased or being downloaded; the item is not deleted then. */
  readonly inUse: boolean;
}

/** Result of a removal. `in_use`: nothing was removed. `absent`: the store has no item with this key. */
export type RemoveOutcome = "removed" | "in_use" | "absent";

/** A Cargo that waits for a download. */
export interface DownloadStatus {
  readonly slug: string;
  readonly key: string;
  readonly receivedBytes: number;
  /** Null while the size is unknown. */
  readonly totalBytes: number | null;
}

/** One thing on disk that a store keeps and may delete. */
export interface StoredItem {
  readonly key: string;
  readonly bytes: number;
  /** Unix time in ms; also the order of use, so that two items of one store never have the same. */
  readonly lastUsedMs: number;
  /** Leased, or being downloaded: it is not deleted now. */
  readonly inUse: boolean;
}

/** `in_use`: nothing was done. `absent`: the store has nothing under this key. */
export type RemoveOutcome = "removed" | "in_use" | "absent";

/** A Cargo that waits for a download. */
export interface DownloadStatus {
  readonly slug: string;
  readonly key: string;
  readonly receivedBytes: number;
  /** Null while the size is unknown. */
  readonly totalBytes: number | null;
}

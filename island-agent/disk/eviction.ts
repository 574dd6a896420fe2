import type { StoredItem } from "./stored-item.ts";

/**
 * Chooses unused items to delete to free `bytes`, least recently used first. Returns null if deleting all of them would
 * not free enough.
 */
export function chooseEvictions<T extends StoredItem>(items: Iterable<T>, bytes: number): T[] | null {
  const oldestFirst = [...items].filter(({ inUse }) => !inUse).sort((a, b) => a.lastUsedMs - b.lastUsedMs);
  const chosen: T[] = [];
  let freed = 0;
  for (const item of oldestFirst) {
    if (freed >= bytes) break;
    chosen.push(item);
    freed += item.bytes;
  }
  return freed >= bytes ? chosen : null;
}

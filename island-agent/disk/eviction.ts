export interface Evictable {
  readonly bytes: number;
  readonly lastUsedMs: number;
  readonly inUse: boolean;
}

/**
 * Chooses what to delete to free `bytes`: the least recently used first, never what is in use. Null when all of it
 * would not be enough; then nothing should be deleted.
 */
export function chooseEvictions<T extends Evictable>(items: Iterable<T>, bytes: number): T[] | null {
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

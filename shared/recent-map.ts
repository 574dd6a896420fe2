import { LRUCache } from "lru-cache";

/**
 * Creates a map of at most `max` entries that forgets the least recently used. It grows with its entries. LRUCache's
 * own `max` would allocate memory for all of them at once, which a starting coordinator does not need.
 */
export function recentMap<V extends {}>(max: number): LRUCache<string, V> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}

import { LRUCache } from "lru-cache";

/**
 * Creates a map of at most `max` entries that forgets the least recently used entry. The map grows with its entries,
 * whereas LRUCache's own `max` would allocate memory for all entries at once, which a starting coordinator does not
 * need.
 */
export function recentMap<V extends {}>(max: number): LRUCache<string, V> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}

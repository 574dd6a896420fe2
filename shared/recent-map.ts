import { LRUCache } from "lru-cache";

/**
 * A map of at most `max` entries that forgets the least recently used. It grows with its entries; LRUCache's own `max` sets the
 * memory for all of them aside at once, of which a coordinator that starts needs nothing yet.
 */
export function recentMap<V extends {}>(max: number): LRUCache<string, V> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}

import type { PromptPart } from "./events.ts";
import { PromptTable } from "./prompt-table.ts";

/** Maximum number of prompts of one Island, and of all Islands as long as each has one. */
const MAX_OF_ISLAND = 64;
const MAX_PROMPTS = 40_000;
/** Maximum number of prompts that are found by the same start. Many may begin with one system prompt. */
const MAX_SHARING = 16;
/** Change of the number of prompts that an Island is assumed to keep, after a hit and after a miss. */
const AFTER_HIT = 0.25;
const AFTER_MISS = -1;
/** Maximum number of Islands that are looked up besides the best ones, because they have the prompt. */
const MAX_HOLDERS = 4;

interface IslandCache {
  /** Rows of the table, the least recently used prompt first. */
  readonly rows: number[];
  /** Number of prompts that the Island seems to keep. */
  capacity: number;
  /** True once the Island reported cached tokens that were expected. Without a hit, it may have no cache at all. */
  hasHit: boolean;
}

/** Where a prompt may be in a cache. */
export interface CachedPrompt {
  /** Returns the number of tokens of the prompt that the Island may have in its cache. */
  tokensOn(islandId: string): number;
  /** A few Islands that may have the longest start of the prompt. */
  readonly holders: readonly string[];
}

const NOT_CACHED: CachedPrompt = { tokensOn: () => 0, holders: [] };

export type PromptCaches = ReturnType<typeof promptCaches>;

/**
 * Remembers which prompts each Island has read, and so may have in its cache. Islands keep few prompts: how many is
 * learnt from the cached tokens that they report.
 */
export function promptCaches() {
  const caches = new Map<string, IslandCache>();
  const table = new PromptTable(MAX_SHARING);

  function drop({ rows }: IslandCache, row: number): void {
    rows.splice(rows.indexOf(row), 1);
    table.remove(row);
  }

  function shrink(cache: IslandCache): void {
    const { rows, capacity } = cache;
    const limit = Math.min(capacity, Math.max(1, MAX_PROMPTS / caches.size));
    for (let [row] = rows; row !== undefined && rows.length > limit; [row] = rows) drop(cache, row);
  }

  return {
    /** Records that an Island reads a prompt. A shorter prompt that it continues is replaced. */
    add(islandId: string, slug: string, parts: readonly PromptPart[], slots: number): void {
      const [first] = parts;
      const last = parts.at(-1);
      if (first === undefined || last === undefined) return;
      const cache = caches.get(islandId) ?? { rows: [], capacity: Math.min(MAX_OF_ISLAND, 2 * slots), hasHit: false };
      caches.set(islandId, cache);
      const continued = cache.rows.filter((row) => parts.some((part) => part.hash === table.hashOf(row)));
      for (const row of continued) drop(cache, row);
      // Conversations fork at their last parts.
      const { hash: previous } = parts.at(-2) ?? first;
      cache.rows.push(table.add(islandId, slug, [last.hash, previous, first.hash]));
      shrink(cache);
    },

    /** Finds the Islands that may have the start of a prompt in their cache. */
    find(parts: readonly PromptPart[]): CachedPrompt {
      const tokensOn = new Map<string, number>();
      let longest: readonly number[] = [];
      for (const { hash, tokens, withAnswer = tokens } of parts) {
        const sharing = table.rowsWith(hash);
        if (sharing.length === 0) continue;
        longest = sharing;
        // After a whole prompt, the Island has written the answer itself.
        for (const row of sharing) {
          const known = table.hashOf(row) === hash ? withAnswer : tokens;
          const islandId = table.islandOf(row);
          tokensOn.set(islandId, Math.max(known, tokensOn.get(islandId) ?? 0));
        }
      }
      if (longest.length === 0) return NOT_CACHED;
      return {
        tokensOn: (islandId) => tokensOn.get(islandId) ?? 0,
        holders: longest
          .slice(0, MAX_HOLDERS)
          .map((row) => table.islandOf(row))
          .reverse(),
      };
    },

    /** Corrects the assumed size of an Island's cache by the number of cached tokens that it reports. */
    correct(islandId: string, expected: number, reported: number): void {
      const cache = caches.get(islandId);
      if (cache === undefined) return;
      if (expected === 0) {
        // The Island has a cache after all; one prompt is enough to find out.
        if (reported > 0) cache.capacity = Math.max(1, cache.capacity);
        return;
      }
      const isHit = reported >= expected / 2;
      cache.hasHit ||= isHit;
      const least = cache.hasHit ? 1 : 0;
      const capacity = cache.capacity + (isHit ? AFTER_HIT : AFTER_MISS);
      cache.capacity = Math.min(MAX_OF_ISLAND, Math.max(least, capacity));
      shrink(cache);
    },

    /** Forgets the prompts of an Island; with a slug, only those of that Cargo. */
    forget(islandId: string, slug?: string): void {
      const cache = caches.get(islandId);
      if (cache === undefined) return;
      const dropped = cache.rows.filter((row) => slug === undefined || table.slugOf(row) === slug);
      for (const row of dropped) drop(cache, row);
      if (slug === undefined) caches.delete(islandId);
    },
  };
}

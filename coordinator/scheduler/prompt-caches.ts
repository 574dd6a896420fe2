import type { PromptPart } from "./events.ts";

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

/** Number of the last parts of a prompt by which it is found, besides the first: where conversations fork. */
const MAX_LAST_PARTS = 2;

interface Prompt {
  readonly islandId: string;
  readonly slug: string;
  /** Hash of the whole prompt. */
  readonly hash: number;
  /** Hashes of the parts by which the prompt is found. */
  readonly hashes: readonly number[];
}

interface IslandCache {
  /** Prompts by the hash of their last part, the least recently used first. */
  readonly prompts: Map<number, Prompt>;
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
  /** Prompts that start with a part, the latest last, by the hash of the part. */
  const byPart = new Map<number, Prompt[]>();

  function list(prompt: Prompt): void {
    for (const hash of prompt.hashes) {
      const sharing = byPart.get(hash);
      if (sharing === undefined) byPart.set(hash, [prompt]);
      else if (sharing.push(prompt) > MAX_SHARING) sharing.shift();
    }
  }

  function unlist(prompt: Prompt): void {
    for (const hash of prompt.hashes) {
      const sharing = byPart.get(hash);
      const index = sharing?.indexOf(prompt) ?? -1;
      if (index !== -1) sharing?.splice(index, 1);
      if (sharing?.length === 0) byPart.delete(hash);
    }
  }

  function drop(prompt: Prompt): void {
    caches.get(prompt.islandId)?.prompts.delete(prompt.hash);
    unlist(prompt);
  }

  function shrink({ prompts: kept, capacity }: IslandCache): void {
    const limit = Math.min(capacity, Math.max(1, MAX_PROMPTS / caches.size));
    for (const prompt of kept.values()) {
      if (kept.size <= limit) return;
      drop(prompt);
    }
  }

  return {
    /** Records that an Island reads a prompt. A shorter prompt that it continues is replaced. */
    add(islandId: string, slug: string, parts: readonly PromptPart[], slots: number): void {
      const hash = parts.at(-1)?.hash;
      if (hash === undefined) return;
      const cache = caches.get(islandId) ?? { prompts: new Map<number, Prompt>(), capacity: 2 * slots, hasHit: false };
      caches.set(islandId, cache);
      for (const part of parts) {
        const continued = cache.prompts.get(part.hash);
        if (continued !== undefined) drop(continued);
      }
      const indexed = parts.length > MAX_LAST_PARTS ? [...parts.slice(0, 1), ...parts.slice(-MAX_LAST_PARTS)] : parts;
      const prompt = { islandId, slug, hash, hashes: indexed.map((part) => part.hash) };
      cache.prompts.set(hash, prompt);
      list(prompt);
      shrink(cache);
    },

    /** Finds the Islands that may have the start of a prompt in their cache. */
    find(parts: readonly PromptPart[]): CachedPrompt {
      const tokensOn = new Map<string, number>();
      let longest: readonly Prompt[] = [];
      for (const { hash, tokens, withAnswer = tokens } of parts) {
        const sharing = byPart.get(hash);
        if (sharing === undefined) continue;
        longest = sharing;
        // After a whole prompt, the Island has written the answer itself.
        for (const { islandId, hash: whole } of sharing) {
          const known = whole === hash ? withAnswer : tokens;
          tokensOn.set(islandId, Math.max(known, tokensOn.get(islandId) ?? 0));
        }
      }
      if (longest.length === 0) return NOT_CACHED;
      return {
        tokensOn: (islandId) => tokensOn.get(islandId) ?? 0,
        holders: longest.slice(-MAX_HOLDERS).map(({ islandId }) => islandId),
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
      for (const prompt of caches.get(islandId)?.prompts.values() ?? []) {
        if (slug === undefined || prompt.slug === slug) drop(prompt);
      }
      if (slug === undefined) caches.delete(islandId);
    },
  };
}

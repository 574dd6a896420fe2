import type { PromptPart } from "./events.ts";

/** Maximum number of prompts that are kept, over all Islands and of one. */
const MAX_PROMPTS = 20_000;
const MAX_OF_ISLAND = 64;
/** Change of the number of prompts that an Island is assumed to keep, after a hit and after a miss. */
const AFTER_HIT = 0.25;
const AFTER_MISS = -1;
/** Maximum number of Islands that are looked up besides the best ones, because they have the prompt. */
const MAX_HOLDERS = 4;

interface Prompt {
  readonly islandId: string;
  readonly slug: string;
  readonly hashes: readonly string[];
}

interface IslandCache {
  /** Prompts by the hash of their last part, the least recently used first. */
  readonly prompts: Map<string, Prompt>;
  /** Number of prompts that the Island seems to keep. */
  capacity: number;
}

export type PromptCaches = ReturnType<typeof promptCaches>;

/**
 * Remembers which prompts each Island has read, and so may have in its cache. Islands keep few prompts: how many is
 * learnt from the cached tokens that they report.
 */
export function promptCaches() {
  const caches = new Map<string, IslandCache>();
  /** Number of prompts of each Island that start with a part, by the hash of the part. */
  const holders = new Map<string, Map<string, number>>();
  /** All prompts, the oldest first. */
  const prompts = new Set<Prompt>();

  function count({ islandId, hashes }: Prompt, change: 1 | -1): void {
    for (const hash of hashes) {
      const islands = holders.get(hash) ?? new Map<string, number>();
      const rest = (islands.get(islandId) ?? 0) + change;
      if (rest > 0) islands.set(islandId, rest);
      else islands.delete(islandId);
      if (islands.size > 0) holders.set(hash, islands);
      else holders.delete(hash);
    }
  }

  function drop(prompt: Prompt): void {
    const last = prompt.hashes.at(-1);
    prompts.delete(prompt);
    if (last !== undefined) caches.get(prompt.islandId)?.prompts.delete(last);
    count(prompt, -1);
  }

  function shrink({ prompts: kept, capacity }: IslandCache): void {
    for (const prompt of kept.values()) {
      if (kept.size <= capacity) return;
      drop(prompt);
    }
  }

  return {
    /** Records that an Island reads a prompt. A shorter prompt that it continues is replaced. */
    add(islandId: string, slug: string, parts: readonly PromptPart[], slots: number): void {
      const hashes = parts.map(({ hash }) => hash);
      const last = hashes.at(-1);
      if (last === undefined) return;
      const cache = caches.get(islandId) ?? { prompts: new Map<string, Prompt>(), capacity: 2 * slots };
      caches.set(islandId, cache);
      for (const hash of hashes) {
        const continued = cache.prompts.get(hash);
        if (continued !== undefined) drop(continued);
      }
      const prompt = { islandId, slug, hashes };
      cache.prompts.set(last, prompt);
      prompts.add(prompt);
      count(prompt, 1);
      shrink(cache);
      const [oldest] = prompts;
      if (prompts.size > MAX_PROMPTS && oldest !== undefined) drop(oldest);
    },

    /** Returns the number of tokens of a prompt that the Island may have in its cache. */
    cachedOn(islandId: string, parts: readonly PromptPart[]): number {
      return parts.findLast(({ hash }) => holders.get(hash)?.has(islandId) === true)?.tokens ?? 0;
    },

    /** Returns a few Islands that may have the longest start of the prompt in their cache. */
    holdersOf(parts: readonly PromptPart[]): string[] {
      const longest = parts.findLast(({ hash }) => holders.has(hash));
      return [...(holders.get(longest?.hash ?? "")?.keys() ?? [])].slice(-MAX_HOLDERS);
    },

    /** Corrects the assumed size of an Island's cache by the number of cached tokens that it reports. */
    correct(islandId: string, expected: number, reported: number): void {
      const cache = caches.get(islandId);
      if (cache === undefined || expected === 0) return;
      const change = reported < expected / 2 ? AFTER_MISS : AFTER_HIT;
      cache.capacity = Math.min(MAX_OF_ISLAND, Math.max(1, cache.capacity + change));
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

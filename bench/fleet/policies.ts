import type { Chat, ModelledIsland } from "./modelled-island.ts";

/** Places chats. `islands`: those with the model on disk, at least one of them free. Null: the chat waits. */
export interface Policy {
  /** Called before the waiting chats are placed, the oldest first. */
  begin?(): void;
  choose(chat: Chat, islands: readonly ModelledIsland[]): ModelledIsland | null;
  /** Called after the Island joined, or after its chats or models changed. */
  changed?(island: ModelledIsland): void;
  firstOutput?(chat: Chat, nowMs: number): void;
  ended?(chat: Chat, island: ModelledIsland, nowMs: number): void;
  /** True if a few candidates of a large fleet, with the least busy of each class, would not do. */
  readonly comparesAll?: true;
}

export type MakePolicy = (random: () => number) => Policy;

function bestOf(islands: readonly ModelledIsland[], isBetter: (a: ModelledIsland, b: ModelledIsland) => boolean) {
  return islands.filter(({ isFree }) => isFree).reduce((best, island) => (isBetter(island, best) ? island : best));
}

function leastBusy(islands: readonly ModelledIsland[], random: () => number): ModelledIsland {
  const free = islands.filter(({ isFree }) => isFree);
  const least = Math.min(...free.map(({ busy }) => busy));
  const equals = free.filter(({ busy }) => busy === least);
  return equals[Math.floor(random() * equals.length)] ?? bestOf(islands, (a, b) => a.busy < b.busy);
}

/** Weight of the newest speed, and factor for the weight of earlier runs, in what the old rank measured. */
const NEWEST_WEIGHT = 0.2;
const DECAY = 0.95;
/** What the old rank assumed of an Island without runs. */
const UNMEASURED = { tokensPerSecond: 10, successes: 0 };

/**
 * The order of the scheduler before it had costs: place of the model, tokens/s in steps of half a doubling, lower bound
 * of the success rate in tenths, share of slots in use in tenths, id. Load of the CPU and round-trip time are equal for
 * all Islands of the model.
 */
export const oldRank: MakePolicy = () => {
  const speeds = new Map<string, { tokensPerSecond: number; successes: number }>();
  const firstMs = new Map<string, number>();
  const islandsByNumber: ModelledIsland[] = [];
  /** Ranks by Cargo, at the number of the Island; infinite without a free slot. */
  const ranks = new Map<string, number[]>();
  const keyOf = (island: ModelledIsland, slug: string): string => `${island.id} ${slug}`;
  return {
    comparesAll: true,
    changed(island) {
      const { nth, slugs, slots } = island.plan;
      islandsByNumber[nth] = island;
      for (const slug of slugs) {
        const { tokensPerSecond, successes } = speeds.get(keyOf(island, slug)) ?? UNMEASURED;
        const own = ranks.get(slug) ?? [];
        ranks.set(slug, own);
        while (own.length <= nth) own.push(Infinity);
        const place = island.loaded.has(slug) ? 0 : 1e6;
        const merit = place + meritOf(tokensPerSecond, successes);
        own[nth] = island.isFree ? merit + Math.ceil((10 * island.busy) / slots) : Infinity;
      }
    },
    choose({ slug }) {
      const own = ranks.get(slug) ?? [];
      let best = 0;
      for (let nth = 1; nth < own.length; nth += 1) {
        if ((own[nth] ?? Infinity) < (own[best] ?? Infinity)) best = nth;
      }
      return islandsByNumber[best] ?? null;
    },
    firstOutput: (chat, nowMs) => void firstMs.set(chat.id, nowMs),
    ended({ id, slug, outputTokens }, island, nowMs) {
      const before = speeds.get(keyOf(island, slug));
      const newest = (1_000 * outputTokens) / Math.max(1, nowMs - (firstMs.get(id) ?? 0));
      firstMs.delete(id);
      const average = before?.tokensPerSecond ?? newest;
      const tokensPerSecond = average + NEWEST_WEIGHT * (newest - average);
      speeds.set(keyOf(island, slug), { tokensPerSecond, successes: (before?.successes ?? 0) * DECAY + 1 });
    },
  };
};

/** Returns the digits of the rank for speed and success. No chat of the model fails. */
function meritOf(tokensPerSecond: number, successes: number): number {
  const a = successes + 1;
  const b = 1;
  const deviation = Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  const failureTenths = Math.round(10 * (1 - (a / (a + b) - deviation)));
  return 1e5 - 1e3 * Math.round(2 * Math.log2(tokensPerSecond)) + 20 * failureTenths;
}

export const leastBusyFirst: MakePolicy = (random) => ({ choose: (_, islands) => leastBusy(islands, random) });

export const twoChoices: MakePolicy = (random) => ({
  comparesAll: true,
  choose(_, islands) {
    const pick = (list: readonly ModelledIsland[]) => list[Math.floor(random() * list.length)];
    const few = Array.from({ length: 8 }, () => pick(islands)).filter((island) => island?.isFree === true);
    const free = few.length >= 2 ? few : islands.filter(({ isFree }) => isFree);
    const [a, b] = few.length >= 2 ? few : [pick(free as ModelledIsland[]), pick(free as ModelledIsland[])];
    return a === undefined || b === undefined ? null : a.busy <= b.busy ? a : b;
  },
});

/** Cache-aware routing as in SGLang's gateway, with its default thresholds for 12 Islands of few slots. */
export const prefixAware: MakePolicy = (random) => {
  const imbalance = { absolute: 3, relative: 1.5 };
  const minMatch = 0.3;
  return {
    choose(chat, islands) {
      const busy = islands.map((island) => island.busy);
      const most = Math.max(...busy);
      const least = Math.min(...busy);
      const isUneven = most - least > imbalance.absolute && most > imbalance.relative * least;
      if (isUneven || chat.promptParts.length === 0) return leastBusy(islands, random);
      const best = bestOf(islands, (a, b) => a.cachedTokens(chat) > b.cachedTokens(chat));
      return best.cachedTokens(chat) / chat.promptTokens > minMatch ? best : leastBusy(islands, random);
    },
  };
};

/**
 * An oracle that knows all speeds and caches, and takes the Island with the lowest expected time. It does not know how
 * long a chat will be.
 * @param social Whether the delay of other chats is added.
 * @param hold Whether a chat waits for a busy Island that would finish it at least twice as soon.
 * @param loads How often a load is charged: more than once, because it stops the Island and evicts another model.
 */
export const oracle = (social: boolean, hold: boolean, loads = 1): MakePolicy => {
  return () => {
    const reserved = new Map<string, number>();
    const costOf = (island: ModelledIsland, chat: Chat): number => {
      const { alphaMs, betaMs, readMsPerToken } = island.speeds;
      const others = Math.min(island.busy, island.plan.slots - 1);
      const writeMs = chat.expectedOutput * (alphaMs + betaMs * (others + 1));
      const loadMs = island.loadMs(chat.slug);
      const unread = chat.promptTokens - (loadMs > 0 ? 0 : island.cachedTokens(chat));
      const slowdownMs = social ? chat.expectedOutput * betaMs * others : 0;
      return waitOf(island) + loads * loadMs + (island.unread + unread) * readMsPerToken + writeMs + slowdownMs;
    };
    const waitOf = (island: ModelledIsland): number => {
      const over = island.busy + (reserved.get(island.id) ?? 0) - island.plan.slots;
      if (over < 0) return 0;
      const { alphaMs, betaMs } = island.speeds;
      const rests = island.unwritten.sort((a, b) => a - b);
      return (rests[over] ?? Infinity) * (alphaMs + betaMs * island.busy);
    };
    return {
      begin: () => reserved.clear(),
      choose(chat, islands) {
        const best = (list: readonly ModelledIsland[]) =>
          list.map((island) => ({ island, cost: costOf(island, chat) })).reduce((a, b) => (b.cost < a.cost ? b : a));
        const free = islands.filter((island) => waitOf(island) === 0);
        const any = best(islands);
        const now = free.length === 0 ? null : best(free);
        if (now !== null && (!hold || now.cost < 2 * any.cost)) return now.island;
        reserved.set(any.island.id, (reserved.get(any.island.id) ?? 0) + 1);
        return null;
      },
    };
  };
};

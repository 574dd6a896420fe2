import type { Chat, ModelledIsland } from "./modelled-island.ts";

/** Places chats. `islands`: those with the model on disk, at least one of them free. Null: the chat waits. */
export interface Policy {
  /** Called before the waiting chats are placed, the oldest first. */
  begin?(): void;
  choose(chat: Chat, islands: readonly ModelledIsland[]): ModelledIsland | null;
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
/** Tokens/s that the old rank assumed of an Island without runs. */
const UNKNOWN_SPEED = 10;

/**
 * The order of the scheduler before it had costs: place of the model, tokens/s in steps of half a doubling, lower bound
 * of the success rate in tenths, share of slots in use in tenths, id. Load of the CPU and round-trip time are equal for
 * all Islands of the model.
 */
export const oldRank: MakePolicy = () => {
  /** Measurements by Cargo, at the number of the Island. */
  const measures = new Map<string, { tokensPerSecond: number; successes: number; merit: number }[]>();
  const firstMs = new Map<string, number>();
  const unmeasured = meritOf(UNKNOWN_SPEED, 0);
  return {
    comparesAll: true,
    choose(chat, islands) {
      const own = measures.get(chat.slug) ?? [];
      let best: ModelledIsland | null = null;
      let lowest = Infinity;
      for (const island of islands) {
        const { slots, nth } = island.plan;
        const { busy } = island;
        if (busy >= slots) continue;
        const merit = (own[nth]?.merit ?? unmeasured) + (island.loaded.has(chat.slug) ? 0 : 1e6);
        const rank = merit + Math.ceil((10 * busy) / slots);
        if (rank >= lowest) continue;
        lowest = rank;
        best = island;
      }
      return best;
    },
    firstOutput: (chat, nowMs) => void firstMs.set(chat.id, nowMs),
    ended({ id, slug, outputTokens }, { plan }, nowMs) {
      const own = measures.get(slug) ?? [];
      measures.set(slug, own);
      const before = own[plan.nth];
      const newest = (1_000 * outputTokens) / Math.max(1, nowMs - (firstMs.get(id) ?? 0));
      firstMs.delete(id);
      const average = before?.tokensPerSecond ?? newest;
      const tokensPerSecond = average + NEWEST_WEIGHT * (newest - average);
      const successes = (before?.successes ?? 0) * DECAY + 1;
      own[plan.nth] = { tokensPerSecond, successes, merit: meritOf(tokensPerSecond, successes) };
    },
  };
};

/** Returns the digits of the rank for speed and success. No chat of the model fails. */
function meritOf(tokensPerSecond: number, successes: number): number {
  const [a, b] = [successes + 1, 1];
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
      const [most, least] = [Math.max(...busy), Math.min(...busy)];
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

import type { Chat, ModelledIsland } from "./modelled-island.ts";

/** Places chats. `islands`: those with the model on disk, at least one of them free. Null: the chat waits. */
export interface Policy {
  /** Called before the waiting chats are placed, the oldest first. */
  begin?(): void;
  choose(chat: Chat, islands: readonly ModelledIsland[]): ModelledIsland | null;
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

/**
 * The order of the scheduler before it had costs: place of the model, speed in steps of half a doubling, share of slots
 * in use, id. Unmeasured Islands counted as 10 tokens/s. Success was equal for all Islands of the model.
 */
export const oldRank: MakePolicy = () => {
  const speeds = new Map<string, number>();
  return {
    choose(chat, islands) {
      const rank = (island: ModelledIsland): number => {
        const place = island.loaded.has(chat.slug) ? 0 : 1;
        const speed = Math.round(2 * Math.log2(speeds.get(island.id) ?? 10));
        return place * 1e6 - speed * 1e3 + Math.ceil((10 * island.busy) / island.plan.slots);
      };
      const chosen = bestOf(islands, (a, b) => rank(a) < rank(b));
      const { alphaMs, betaMs } = chosen.speeds;
      // Its moving average of tokens/s follows what a chat reaches on the Island.
      const reached = 1_000 / (alphaMs + betaMs * (chosen.busy + 1));
      const before = speeds.get(chosen.id);
      speeds.set(chosen.id, before === undefined ? reached : before + 0.2 * (reached - before));
      return chosen;
    },
  };
};

export const leastBusyFirst: MakePolicy = (random) => ({ choose: (_, islands) => leastBusy(islands, random) });

export const twoChoices: MakePolicy = (random) => ({
  choose(_, islands) {
    const free = islands.filter(({ isFree }) => isFree);
    const [a, b] = [0, 1].map(() => free[Math.floor(random() * free.length)]);
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
 */
export const oracle = (social: boolean, hold: boolean): MakePolicy => {
  return () => {
    const reserved = new Map<string, number>();
    const costOf = (island: ModelledIsland, chat: Chat): number => {
      const { alphaMs, betaMs, readMsPerToken } = island.speeds;
      const others = Math.min(island.busy, island.plan.slots - 1);
      const writeMs = chat.expectedOutput * (alphaMs + betaMs * (others + 1));
      const loadMs = island.loadMs(chat.slug);
      const unread = chat.promptTokens - (loadMs > 0 ? 0 : island.cachedTokens(chat));
      const slowdownMs = social ? chat.expectedOutput * betaMs * others : 0;
      return waitOf(island) + loadMs + (island.unread + unread) * readMsPerToken + writeMs + slowdownMs;
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

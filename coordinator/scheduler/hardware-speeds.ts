import { recentMap } from "../../shared/recent-map.ts";
import { typicalMs, type Speed } from "./speed-curve.ts";

/** Maximum number of pairs of hardware class and Cargo, and of Islands that are kept for each. */
const MAX_PAIRS = 10_000;
const MAX_ISLANDS = 32;
/** Number of other Islands from which the fastest of them is a bound: a few slow ones must not hold a fast one back. */
const MIN_OTHERS = 3;
/** Numbers of measured Islands at which the median of a class is used for those that were not measured. */
const BETTER_AT = [1, 4, 16];

/** Speeds that Islands of the same hardware class measured. They start an unmeasured Island, and bound fast ones. */
export function hardwareSpeeds() {
  /** Speeds by Island, the latest last, by hardware class and Cargo. `ms`: of a typical run. */
  const pairs = recentMap<Map<string, { readonly speed: Speed; readonly ms: number }>>(MAX_PAIRS);
  const keyOf = (hardwareClass: string, slug: string): string => `${slug} ${hardwareClass}`;

  return {
    /** Returns true if the speed of the class was not known before, or may be known much better now. */
    note(hardwareClass: string, slug: string, islandId: string, speed: Speed): boolean {
      const key = keyOf(hardwareClass, slug);
      const speeds = pairs.get(key) ?? new Map<string, { speed: Speed; ms: number }>();
      const isNew = !speeds.delete(islandId);
      speeds.set(islandId, { speed, ms: typicalMs(speed) });
      const [oldest] = speeds.keys();
      if (speeds.size > MAX_ISLANDS && oldest !== undefined) speeds.delete(oldest);
      pairs.set(key, speeds);
      return isNew && BETTER_AT.includes(speeds.size);
    },

    /** Returns the speed of the median Island of the class besides `islandId`; undefined if none was measured. */
    medianOf(hardwareClass: string, slug: string, islandId: string): Speed | undefined {
      const measured = pairs.get(keyOf(hardwareClass, slug)) ?? [];
      const others = [...measured].flatMap(([id, each]) => (id === islandId ? [] : [each]));
      return others.sort((a, b) => a.ms - b.ms)[others.length >> 1]?.speed;
    },

    /** Returns how many times slower than measured an Island is taken to be, so that no other of its class is slower. */
    slownessOf(hardwareClass: string, slug: string, islandId: string): number {
      const speeds = pairs.get(keyOf(hardwareClass, slug));
      const own = speeds?.get(islandId);
      if (speeds === undefined || own === undefined || speeds.size <= MIN_OTHERS) return 1;
      let fastestMs = Infinity;
      for (const [id, { ms }] of speeds) if (id !== islandId) fastestMs = Math.min(fastestMs, ms);
      return Math.max(1, fastestMs / own.ms);
    },
  };
}
export type HardwareSpeeds = ReturnType<typeof hardwareSpeeds>;

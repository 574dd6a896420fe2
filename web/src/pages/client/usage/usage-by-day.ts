import type { UsageLine } from "../../../app/account-api.ts";

const DAY_MS = 86_400_000;

export interface UsageByDay {
  /** Starts of consecutive UTC days, in seconds since 1970. */
  readonly at: readonly number[];
  readonly spent: readonly number[];
  readonly earned: readonly number[];
}

/** Formats a time as its UTC day, such as "2026-01-31". */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Sums usage for the last `days` days, including today. Days without a line are 0. */
export function usageByDay(lines: readonly UsageLine[], nowMs: number, days: number): UsageByDay {
  const today = Math.floor(nowMs / DAY_MS);
  const numbers = Array.from({ length: days }, (_, index) => today - days + 1 + index);
  const sum = (kind: UsageLine["kind"]) => {
    const byDay = new Map<string, number>();
    for (const line of lines) {
      if (line.kind === kind && line.day !== null) byDay.set(line.day, (byDay.get(line.day) ?? 0) + line.credits);
    }
    return numbers.map((number) => byDay.get(dayOf(number * DAY_MS)) ?? 0);
  };
  return { at: numbers.map((number) => (number * DAY_MS) / 1_000), spent: sum("spent"), earned: sum("earned") };
}

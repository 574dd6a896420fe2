import { DAY_MS, NO_COUNTS, utcDayOf, type HostCounts, type UtcDay } from "../store/ledger/host-metrics.ts";
import type { Store } from "../store/store.ts";

/** Values for today, and for the last 7 and 30 UTC days including today. */
interface Periods<T> {
  readonly today: T;
  readonly days7: T;
  readonly days30: T;
}

type EndedCounts = Omit<HostCounts, "onlineMs">;

export interface IslandDay {
  readonly day: UtcDay;
  /** Share of time online on this day, 0 to 1; null before the Island was first seen. */
  readonly uptime: number | null;
  readonly earnedMicro: number;
  readonly counts: EndedCounts;
}

export interface IslandMetrics {
  /** Share of time online, 0 to 1, since the period started or the Island was first seen; null if no time has passed. */
  readonly uptime: Periods<number | null>;
  readonly earnedMicro: Periods<number>;
  readonly counts: EndedCounts;
  /** Returns the last 30 UTC days including today, oldest first, without gaps. */
  readonly byDay: () => readonly IslandDay[];
}

const MAX_DAYS = 30;
/** Online time is stored once a minute, so up to a minute of a connected Island may be missing. */
const UNSTORED_MS = 60_000;

interface KnownIsland {
  readonly hostId: string;
  readonly firstSeenAtMs: number;
  readonly isConnected: boolean;
}

/**
 * Reads metrics of an account's Islands, or of one Island. The returned function also accepts an Island without
 * metrics.
 */
export async function readMetrics(
  store: Pick<Store["hostMetrics"], "counts" | "earnings">,
  { accountId, hostId, nowMs }: { readonly accountId: string; readonly hostId: string | null; readonly nowMs: number },
): Promise<(island: KnownIsland) => IslandMetrics> {
  const today = utcDayOf(nowMs);
  const fromDay = today - MAX_DAYS + 1;
  const [counts, earnings] = await Promise.all([
    store.counts(accountId, hostId, fromDay),
    store.earnings(accountId, hostId, fromDay),
  ]);
  return (island) => {
    const own = counts.filter((row) => row.hostId === island.hostId);
    const earned = earnings.filter((row) => row.hostId === island.hostId);
    const countsBetween = (first: UtcDay, last: UtcDay): HostCounts =>
      own.filter(({ day }) => day >= first && day <= last).reduce(addCounts, NO_COUNTS);
    const earnedBetween = (first: UtcDay, last: UtcDay): number =>
      earned.reduce((total, { day, micro }) => total + (day < first || day > last ? 0 : micro), 0);
    const uptimeBetween = (first: UtcDay, last: UtcDay): number | null => {
      const untilMs = Math.min(nowMs, (last + 1) * DAY_MS);
      const sinceMs = untilMs - Math.max(first * DAY_MS, island.firstSeenAtMs);
      const unstoredMs = island.isConnected && last === today ? UNSTORED_MS : 0;
      return sinceMs <= 0 ? null : Math.min(1, (countsBetween(first, last).onlineMs + unstoredMs) / sinceMs);
    };
    const { onlineMs: _, ...all } = countsBetween(fromDay, today);
    return {
      uptime: inPeriods((days) => uptimeBetween(today - days + 1, today)),
      earnedMicro: inPeriods((days) => earnedBetween(today - days + 1, today)),
      counts: all,
      byDay: () =>
        Array.from({ length: MAX_DAYS }, (_each, index): IslandDay => {
          const day = fromDay + index;
          const { onlineMs: _ofDay, ...ended } = countsBetween(day, day);
          return { day, uptime: uptimeBetween(day, day), earnedMicro: earnedBetween(day, day), counts: ended };
        }),
    };
  };
}

function addCounts(sum: HostCounts, row: HostCounts): HostCounts {
  const names = Object.keys(NO_COUNTS) as (keyof HostCounts)[];
  return Object.fromEntries(names.map((name) => [name, sum[name] + row[name]])) as Record<keyof HostCounts, number>;
}

function inPeriods<T>(read: (days: number) => T): Periods<T> {
  return { today: read(1), days7: read(7), days30: read(MAX_DAYS) };
}

import { DAY_MS, utcDayOf, type HostCounts, type HostFiguresStore } from "../store/host-figures-store.ts";

/** Of today, and of the last 7 and 30 UTC days with today. */
export interface Periods<T> {
  readonly today: T;
  readonly days7: T;
  readonly days30: T;
}

export interface IslandFigures {
  /** Share of the time since the period began, or since the Island was first seen; null in its first minute. */
  readonly uptime: Periods<number | null>;
  /** Micro-credits. */
  readonly earnedMicro: Periods<number>;
  /** Of 30 days. */
  readonly counts: Omit<HostCounts, "onlineMs">;
}

const DAYS = { today: 1, days7: 7, days30: 30 } as const;
/** Time online is stored once a minute: the last one may be missing, and is left out. */
const NOT_STORED_MS = 60_000;
const PERIODS = Object.keys(DAYS) as (keyof typeof DAYS)[];

/** Figures of the account's Islands, or of one, by host id. Gives those of an Island without any, too. */
export async function readFigures(
  store: HostFiguresStore,
  { accountId, hostId, nowMs }: { readonly accountId: string; readonly hostId: string | null; readonly nowMs: number },
): Promise<(island: { readonly hostId: string; readonly firstSeenAtMs: number }) => IslandFigures> {
  const today = utcDayOf(nowMs);
  const fromDay = today - DAYS.days30 + 1;
  const [counts, earnings] = await Promise.all([
    store.counts(accountId, hostId, fromDay),
    store.earnings(accountId, hostId, fromDay),
  ]);
  return (island) => {
    const own = counts.filter((row) => row.hostId === island.hostId);
    const earned = earnings.filter((row) => row.hostId === island.hostId);
    const sum = (name: keyof HostCounts): number => own.reduce((total, row) => total + row[name], 0);
    return {
      uptime: inPeriods((days) => {
        const firstDay = today - days + 1;
        const sinceMs = nowMs - Math.max(firstDay * DAY_MS, island.firstSeenAtMs);
        const onlineMs = own.reduce((total, { day, onlineMs: ofDay }) => total + (day < firstDay ? 0 : ofDay), 0);
        const storedMs = sinceMs - NOT_STORED_MS;
        return storedMs <= 0 ? null : Math.min(1, onlineMs / storedMs);
      }),
      earnedMicro: inPeriods((days) =>
        earned.reduce((total, { day, micro }) => total + (day < today - days + 1 ? 0 : micro), 0),
      ),
      counts: {
        completed: sum("completed"),
        failed: sum("failed"),
        cancelled: sum("cancelled"),
        timedOut: sum("timedOut"),
        retried: sum("retried"),
        tokens: sum("tokens"),
      },
    };
  };
}

function inPeriods<T>(read: (days: number) => T): Periods<T> {
  const [today, days7, days30] = PERIODS.map((period) => read(DAYS[period])) as [T, T, T];
  return { today, days7, days30 };
}

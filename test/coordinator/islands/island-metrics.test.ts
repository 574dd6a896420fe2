import { describe, expect, it } from "vitest";
import { readMetrics } from "../../../coordinator/islands/island-metrics.ts";
import { DAY_MS, NO_COUNTS } from "../../../coordinator/store/ledger/host-metrics.ts";

const TODAY = 20_000;
const HOUR_MS = 3_600_000;
const NOW_MS = TODAY * DAY_MS + 12 * HOUR_MS;
const HOST = "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01";

async function figuresOf(
  rows: readonly { day: number; onlineMs?: number; completed?: number; tokens?: number; micro?: number }[],
  island: { firstSeenAtMs: number; isConnected: boolean },
) {
  const key = { accountId: "user_1", hostId: HOST };
  const store = {
    counts: async () =>
      rows.map(({ day, onlineMs = 0, completed = 0, tokens = 0 }) => {
        return { ...NO_COUNTS, ...key, day, onlineMs, completed, tokens };
      }),
    earnings: async () => rows.map(({ day, micro = 0 }) => ({ ...key, day, micro })),
  };
  const read = await readMetrics(store, { accountId: "user_1", hostId: HOST, nowMs: NOW_MS });
  return read({ hostId: HOST, ...island });
}

describe("readMetrics()", () => {
  it("returns 30 days without gaps, which add up to the values of the period", async () => {
    const metrics = await figuresOf(
      [
        { day: TODAY, onlineMs: 6 * HOUR_MS, completed: 2, tokens: 5, micro: 10 },
        { day: TODAY - 1, onlineMs: 24 * HOUR_MS, completed: 1, micro: 7 },
        { day: TODAY - 29, completed: 4 },
      ],
      { firstSeenAtMs: (TODAY - 1) * DAY_MS, isConnected: false },
    );
    const days = metrics.byDay();
    expect(days.map(({ day }) => day)).toEqual(Array.from({ length: 30 }, (_, index) => TODAY - 29 + index));
    expect(days.at(-1)).toMatchObject({ uptime: 0.5, earnedMicro: 10, counts: { completed: 2, tokens: 5 } });
    expect(days.at(-2)).toMatchObject({ uptime: 1, earnedMicro: 7, counts: { completed: 1, tokens: 0 } });
    // On this day, the Island had not been seen yet.
    expect(days[0]).toMatchObject({ uptime: null, earnedMicro: 0, counts: { completed: 4 } });
    expect(metrics).toMatchObject({ uptime: { today: 0.5, days7: 30 / 36 }, counts: { completed: 7, tokens: 5 } });
  });

  it("counts the minute that is not stored yet for a connected Island", async () => {
    const firstSeenAtMs = NOW_MS - 40_000;
    expect((await figuresOf([], { firstSeenAtMs, isConnected: true })).uptime).toEqual({
      today: 1,
      days7: 1,
      days30: 1,
    });
    expect((await figuresOf([], { firstSeenAtMs, isConnected: false })).uptime.today).toBe(0);
    const longAgo = { firstSeenAtMs: NOW_MS - 6 * HOUR_MS, isConnected: true };
    expect((await figuresOf([{ day: TODAY, onlineMs: 3 * HOUR_MS }], longAgo)).uptime.today).toBeCloseTo(0.5, 2);
  });
});

import { expect, it } from "vitest";
import { readFigures } from "../../../coordinator/islands/island-figures.ts";
import { DAY_MS, type HostFiguresStore } from "../../../coordinator/store/host-figures-store.ts";

const MIN_MS = 60_000;
/** Noon of a UTC day. */
const SEEN_MS = 20_000.5 * DAY_MS;

/** Uptime of an Island that was first seen `minutes` ago, of which `stored` are counted. */
async function uptimeOf(minutes: number, stored: number) {
  const counts = {
    onlineMs: stored * MIN_MS,
    completed: 0,
    failed: 0,
    cancelled: 0,
    timedOut: 0,
    retried: 0,
    tokens: 0,
  };
  const store = {
    counts: async () => [{ accountId: "user_1", hostId: "h", day: 20_000, ...counts }],
    earnings: async () => [],
  } as unknown as HostFiguresStore;
  const nowMs = SEEN_MS + minutes * MIN_MS;
  const figures = await readFigures(store, { accountId: "user_1", hostId: null, nowMs });
  return figures({ hostId: "h", firstSeenAtMs: SEEN_MS }).uptime;
}

it("readFigures() knows no uptime in an Island's first minute, which is not stored yet", async () => {
  expect(await uptimeOf(0.9, 0)).toEqual({ today: null, days7: null, days30: null });
});

it("readFigures() leaves out the last minute, so that an Island that never left has all", async () => {
  expect(await uptimeOf(1.9, 1)).toEqual({ today: 1, days7: 1, days30: 1 });
  expect((await uptimeOf(5.9, 5)).today).toBe(1);
  expect((await uptimeOf(61, 30)).today).toBe(0.5);
});

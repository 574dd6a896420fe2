import { beforeEach, describe, expect, it } from "vitest";
import type { IslandRegistryEvent } from "../../../coordinator/islands/island-registry.ts";
import { openHostMetrics } from "../../../coordinator/metrics/host-metrics.ts";
import { utcDayOf, type HostCounts, type HostDay } from "../../../coordinator/store/ledger/host-metrics.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { testEnv } from "../../support/test-env.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const MINUTE_MS = 60_000;

let clock: ManualClock;
let tell: (event: IslandRegistryEvent) => void;
let stored: (HostDay & HostCounts)[];
let touched: string[];
let removed: string[];
let fault: Error | null;
let figures: ReturnType<typeof openHostMetrics>;

beforeEach(() => {
  clock = new ManualClock();
  [stored, touched, removed, fault] = [[], [], [], null];
  const store = {
    hostMetrics: {
      addCounts: async (rows: readonly (HostDay & HostCounts)[]) => {
        if (fault !== null) throw fault;
        stored.push(...rows);
      },
      sumUpEarnings: async () => false,
    },
    usage: { sumUp: async () => false },
    islands: {
      touch: async (hostIds: readonly string[]) => void touched.push(...hostIds),
      removedOf: async (hostIds: readonly string[]) => hostIds.filter((hostId) => hostId === "gone"),
    },
  };
  const islands = {
    subscribe: (listener: typeof tell) => void (tell = listener),
    get: () => undefined,
    remove: (accountId: string, hostId: string) => void removed.push(`${accountId} ${hostId}`),
  };
  figures = openHostMetrics(testEnv({}, { clock }), store as unknown as Store, islands, { subscribe: () => undefined });
});

const up = (id: string): void => tell({ type: "island_up", island: { id, accountId: "user_1" } as never, busy: 0 });
const onlineOf = (hostId: string) =>
  stored.filter((row) => row.hostId === hostId).map(({ day, onlineMs }) => [day - utcDayOf(clock.now()), onlineMs]);

describe("openHostMetrics()", () => {
  it("counts the time online up to each write, and to the end of the session", async () => {
    up("a");
    clock.advance(1_000);
    await figures.store();
    clock.advance(500);
    tell({ type: "island_down", islandId: "a" });
    clock.advance(9_000);
    await figures.store();
    expect(onlineOf("a")).toEqual([
      [0, 1_000],
      [0, 500],
    ]);
    expect(touched).toEqual(["a"]);
  });

  it("gives each day its part", async () => {
    const toMidnightMs = 86_400_000 - (clock.now() % 86_400_000);
    up("a");
    clock.advance(toMidnightMs + 5);
    await figures.store();
    expect(stored.map(({ day }) => day - utcDayOf(clock.now())).at(0)).toBe(-1);
    expect(stored.reduce((sum, { onlineMs }) => sum + onlineMs, 0)).toBe(toMidnightMs + 5);
    expect(onlineOf("a").at(-1)).toEqual([0, 5]);
  });

  it("keeps what could not be stored for the next time", async () => {
    up("a");
    clock.advance(1_000);
    fault = new ServiceError("storage_unavailable", "no room");
    await figures.store();
    fault = null;
    clock.advance(1_000);
    await figures.store();
    expect(onlineOf("a")).toEqual([[0, 2_000]]);
  });

  it("sends an Island away that was removed without this coordinator's hearing of it", async () => {
    up("a");
    up("gone");
    await figures.store();
    expect(removed).toEqual(["user_1 gone"]);
  });

  it("stores nothing while there is nothing", async () => {
    clock.advance(MINUTE_MS);
    await figures.close();
    expect(stored).toEqual([]);
  });
});

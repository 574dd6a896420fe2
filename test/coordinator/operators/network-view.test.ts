import { beforeEach, describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { MESSAGES, type CoordinatorMetrics, type WaitingWork } from "../../../coordinator/cluster/messages.ts";
import type { LiveIsland } from "../../../coordinator/islands/live-island.ts";
import { networkView, type NetworkView } from "../../../coordinator/operators/network-view.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { peersOn } from "../cluster/peers-on.ts";

const PEERS = ["one", "two", "odd", "silent"];

const work = (override: Partial<WaitingWork> = {}): WaitingWork => ({
  slug: "tiny",
  onlyIslandsOf: null,
  jobs: 1,
  oldestAtMs: 10,
  reason: "all_busy",
  message: "busy",
  ...override,
});
const figuresOf = (override: Partial<CoordinatorMetrics> = {}): CoordinatorMetrics => ({
  islands: 1,
  slots: { free: 1, all: 2 },
  jobs: { running: 1, waiting: 1 },
  ended: { all: 5, failed: 1 },
  tokensPerSecond: 2.5,
  firstToken: [[50, 3]],
  waiting: [work()],
  ...override,
});

const live = (hostId: string): LiveIsland => ({
  hostId,
  isDraining: false,
  isQuarantined: false,
  slots: 1,
  slotsBusy: 0,
  cpuLoad: null,
  freeRamBytes: null,
  freeVramBytes: null,
  temperatureC: null,
  gpuLoad: null,
  loaded: [],
  loading: [],
  downloads: [],
  running: [],
  cachedModels: [],
  engineModels: [],
});

let clock: ManualClock;
let bus: LocalBus;
let own: CoordinatorMetrics;
let reads: number;
/** Number of Islands of the other coordinator. */
let elsewhere: number;
/** Work that the other coordinator reports. */
let peerWork: Pick<CoordinatorMetrics, "work">;
/** Number of Islands in storage, and how often storage counted them. */
let known: number;
let counts: number;
let views: NetworkView[];

/** "odd" sends an invalid reply, "silent" sends none. */
beforeEach(() => {
  clock = new ManualClock();
  bus = new LocalBus();
  [own, reads, known, counts, elsewhere, peerWork] = [figuresOf(), 0, 9, 0, 1, {}];
  views = PEERS.slice(0, 2).map((self, index) => {
    const readMetrics = () => {
      reads += 1;
      if (index === 0) return own;
      const waiting = [work({ jobs: 5, oldestAtMs: 3, message: "very busy" })];
      return figuresOf({ islands: elsewhere, waiting, ...peerWork });
    };
    const liveHere = (hostIds: readonly string[]) => hostIds.filter((hostId) => hostId === self).map(live);
    const countIslands = async () => {
      counts += 1;
      return { known, seen: 2 };
    };
    const store = { cluster: { isShared: true }, operators: { countIslands } } as unknown as Store;
    return networkView(readMetrics, liveHere, store, peersOn(bus, self, PEERS), clock);
  });
  for (const { name } of [MESSAGES.metrics, MESSAGES.islands]) bus.handle(`odd.${name}`, async () => null);
});

describe("networkView()", () => {
  it("adds up the replies of the coordinators, and lists those that do not reply", async () => {
    const overview = await views[0]?.overview();
    expect(overview).toMatchObject({
      islands: { online: 2, known: 9 },
      slots: { free: 2, all: 4 },
      jobs: { running: 2, waiting: 2, finishedLastMinute: 10 },
      tokensPerSecond: 5,
      errorsLastMinute: 2,
    });
    expect(overview?.coordinators.map(({ id, metrics }) => [id, metrics !== null])).toEqual([
      ["one", true],
      ["two", true],
      ["odd", false],
      ["silent", false],
    ]);
    expect(overview?.firstTokenMs.p50).toBeCloseTo(117.4, 1);
  });

  it("returns one line for each Cargo and reason, with the message of the coordinator where most jobs wait", async () => {
    own = figuresOf({ waiting: [work({ jobs: 2 }), work({ slug: "other", jobs: 9, reason: "no_island_fits" })] });
    expect((await views[0]?.overview())?.queue).toEqual([
      work({ slug: "other", jobs: 9, reason: "no_island_fits" }),
      work({ jobs: 7, oldestAtMs: 3, message: "very busy" }),
    ]);
  });

  it("does not report that no Island is online if another coordinator has some", async () => {
    own = figuresOf({ islands: 0, waiting: [work({ slug: "other", reason: "no_island_online" })] });
    const reasonOf = async () => (await views[0]?.overview())?.queue.find(({ slug }) => slug === "other")?.reason;
    expect(await reasonOf()).toBe("no_island_fits");
    clock.advance(1_000);
    elsewhere = 0;
    expect(await reasonOf()).toBe("no_island_online");
  });

  it("adds up the work of Islands, also with a coordinator that does not report it", async () => {
    const row = (islandId: string, outputTokens: number) => ({ islandId, slots: 2, outputTokens, cachedTokens: 1 });
    const workOf = async () => (await views[0]?.overview())?.work;
    expect(await workOf()).toEqual({ promptTokens: 0, cachedTokens: 0, islands: [] });
    own = figuresOf({ work: { promptTokens: 8, cachedTokens: 3, islands: [row("isle-1", 5), row("isle-2", 4)] } });
    peerWork = { work: { promptTokens: 2, cachedTokens: 1, islands: [row("isle-2", 3)] } };
    clock.advance(1_000);
    expect(await workOf()).toEqual({
      promptTokens: 10,
      cachedTokens: 4,
      islands: [{ ...row("isle-2", 7), cachedTokens: 2 }, row("isle-1", 5)],
    });
  });

  it("asks once a second, however many callers there are", async () => {
    const [view] = views;
    await Promise.all([view?.overview(), view?.overview()]);
    await view?.overview();
    expect(reads).toBe(2);
    clock.advance(1_000);
    await view?.overview();
    expect(reads).toBe(4);
  });

  it("reads its own counts at most twice a second, however many others ask for them", async () => {
    const asker = peersOn(bus, "asker");
    for (let asked = 0; asked < 64; asked += 1) await asker.ask("two", MESSAGES.metrics, null);
    expect(reads).toBe(1);
    clock.advance(500);
    await asker.ask("two", MESSAGES.metrics, null);
    expect(reads).toBe(2);
  });

  it("counts the known Islands less often the more there are", async () => {
    known = 100_000;
    for (let second = 0; second < 100; second += 1) {
      expect((await views[0]?.overview())?.islands.known).toBe(100_000);
      clock.advance(1_000);
    }
    expect(counts).toBe(1);
    await views[0]?.overview();
    expect(counts).toBe(2);
  });

  it("counts at least the online Islands as known", async () => {
    own = figuresOf({ islands: 50 });
    expect((await views[0]?.overview())?.islands).toEqual({ online: 51, known: 51 });
  });

  it("omits a coordinator whose reply is incomplete", async () => {
    for (const name of Object.keys(figuresOf())) {
      const { [name as "waiting"]: _, ...rest } = figuresOf();
      own = rest as CoordinatorMetrics;
      clock.advance(1_000);
      const line = (await views[1]?.overview())?.coordinators.find(({ id }) => id === "one");
      expect([name, line?.metrics]).toEqual([name, null]);
    }
  });

  it("finds Islands at any coordinator", async () => {
    const found = await views[0]?.live(["one", "two", "gone"]);
    expect([...(found?.byId.keys() ?? [])].toSorted()).toEqual(["one", "two"]);
    expect(found?.isComplete).toBe(false);
  });
});

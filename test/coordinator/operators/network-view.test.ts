import { beforeEach, describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { RemoteQuestions } from "../../../coordinator/cluster/remote-questions.ts";
import type { Figures, WaitingWork } from "../../../coordinator/operators/coordinator-figures.ts";
import { NetworkView, type NetworkViewDeps } from "../../../coordinator/operators/network-view.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const PEERS = ["one", "two", "old", "silent"].map((id) => ({ id, address: `http://${id}`, version: "1" }));

const work = (override: Partial<WaitingWork> = {}): WaitingWork => ({
  slug: "tiny",
  onlyIslandsOf: null,
  jobs: 1,
  oldestAtMs: 10,
  reason: "all_busy",
  message: "busy",
  ...override,
});
const figuresOf = (override: Partial<Figures> = {}): Figures => ({
  islands: 1,
  slots: { free: 1, all: 2 },
  jobs: { running: 1, waiting: 1 },
  ended: { all: 5, failed: 1 },
  tokensPerSecond: 2.5,
  firstToken: [[50, 3]],
  waiting: [work()],
  ...override,
});

let clock: ManualClock;
let own: Figures;
let reads: number;
let views: NetworkView[];

/** "old" answers what it does not understand with null, "silent" does not answer. */
beforeEach(() => {
  clock = new ManualClock();
  const bus = new LocalBus();
  const log = { warn: () => undefined };
  [own, reads] = [figuresOf(), 0];
  views = PEERS.slice(0, 2).map((self, index) => {
    const view: NetworkView = new NetworkView({
      figures: {
        read: () => {
          reads += 1;
          return index === 0 ? own : figuresOf({ waiting: [work({ jobs: 5, oldestAtMs: 3, message: "very busy" })] });
        },
      },
      liveHere: (hostIds) => hostIds.filter((hostId) => hostId === self.id).map((hostId) => ({ hostId }) as never),
      store: {
        operators: { countIslands: async () => ({ known: 9, seen: 2 }) },
      } as unknown as NetworkViewDeps["store"],
      clock,
      self: () => self,
      ask: (question) => questions.ask(question),
    });
    const questions = new RemoteQuestions({
      bus,
      log,
      members: { self, living: PEERS },
      answer: (question) => view.answer(question),
    });
    return view;
  });
  bus.answer("old.operator", async () => null);
});

describe("NetworkView", () => {
  it("adds up what the coordinators say, and names those that say nothing", async () => {
    const overview = await views[0]?.overview();
    expect(overview).toMatchObject({
      islands: { online: 2, known: 9 },
      slots: { free: 2, all: 4 },
      jobs: { running: 2, waiting: 2, finishedLastMinute: 10 },
      tokensPerSecond: 5,
      errorsLastMinute: 2,
    });
    expect(overview?.coordinators.map(({ id, figures }) => [id, figures !== null])).toEqual([
      ["one", true],
      ["two", true],
      ["old", false],
      ["silent", false],
    ]);
    expect(overview?.firstTokenMs.p50).toBeCloseTo(117.4, 1);
  });

  it("has one line for each Cargo and reason, with the words of where most wait", async () => {
    own = figuresOf({ waiting: [work({ jobs: 2 }), work({ slug: "other", jobs: 9, reason: "no_island_online" })] });
    expect((await views[0]?.overview())?.queue).toEqual([
      work({ slug: "other", jobs: 9, reason: "no_island_online" }),
      work({ jobs: 7, oldestAtMs: 3, message: "very busy" }),
    ]);
  });

  it("asks once a second, however many ask it", async () => {
    const [view] = views;
    await Promise.all([view?.overview(), view?.overview()]);
    await view?.overview();
    expect(reads).toBe(2);
    clock.advance(1_000);
    await view?.overview();
    expect(reads).toBe(4);
  });

  it("finds Islands wherever they are connected", async () => {
    const found = await views[0]?.live(["one", "two", "gone"]);
    expect([...(found?.byId.keys() ?? [])].toSorted()).toEqual(["one", "two"]);
    expect(found?.isComplete).toBe(false);
  });

  it("answers what it does not know with null", () => {
    expect(views[0]?.answer({ ask: "something newer" })).toBeNull();
    expect(views[0]?.answer({ ask: "islands" })).toBeNull();
    expect(views[0]?.answer(null)).toBeNull();
  });
});

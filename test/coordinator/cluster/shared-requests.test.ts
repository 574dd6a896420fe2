import { afterEach, describe, expect, it } from "vitest";
import { Random } from "../../support/random.ts";
import { QuotaNetwork } from "./quota-network.ts";

const MINUTE_MS = 60_000;
const IDS = ["c1", "c2", "c3"] as const;

describe("requests a minute, with several coordinators", () => {
  let network: QuotaNetwork;
  afterEach(() => network.close());

  /** How many of `count` requests are allowed, each to the next of the coordinators. */
  async function allowed(count: number, limit: number, ids: readonly string[] = IDS): Promise<number> {
    let sum = 0;
    for (let index = 0; index < count; index += 1) {
      const { isAllowed } = await network.request(ids[index % ids.length] as string, "a", limit);
      if (isAllowed) sum += 1;
    }
    return sum;
  }

  it("are counted together, exactly for a small limit, wherever they are sent", async () => {
    network = new QuotaNetwork(IDS);
    expect(await allowed(150, 100)).toBe(100);
    network.clock.advance(MINUTE_MS);
    for (const id of IDS) expect(await allowed(50, 100, [id])).toBe(id === "c3" ? 0 : 50);
  });

  it("many at once are allowed up to the limit, and cost few questions", async () => {
    network = new QuotaNetwork(IDS);
    const all = await Promise.all(
      Array.from({ length: 300 }, (_, index) => network.request(IDS[index % 3] as string, "a", 100)),
    );
    expect(all.filter(({ isAllowed }) => isAllowed)).toHaveLength(100);
    expect(network.bus.asked).toBeLessThan(10);
  });

  it("say what remains, and when a refused one may come again", async () => {
    network = new QuotaNetwork(IDS);
    for (const id of IDS) expect(await network.request(id, "a", 10)).toMatchObject({ isAllowed: true });
    network.clock.advance(20_000);
    for (const id of IDS) expect((await network.request(id, "a", 10)).remaining).toBe(6 - IDS.indexOf(id));
    await allowed(4, 10);
    for (const id of IDS) {
      expect(await network.request(id, "a", 10)).toEqual({ isAllowed: false, remaining: 0, freesInMs: 40_000 });
    }
    network.clock.advance(40_000);
    expect(await allowed(9, 10)).toBe(3);
  });

  it("of one who tries on after a refusal cost a question a second, and a raised limit counts at once", async () => {
    network = new QuotaNetwork(IDS);
    await allowed(10, 10);
    const { asked } = network.bus;
    for (let tries = 0; tries < 50; tries += 1) await allowed(3, 10);
    expect(network.bus.asked - asked).toBeLessThanOrEqual(3);
    expect(await allowed(10, 12)).toBe(2);
  });

  it("of a large limit cost a question for a block, and pass the limit by 5 % at most", async () => {
    network = new QuotaNetwork(IDS);
    const limit = 6_000;
    expect(await allowed(30, limit)).toBe(30);
    // What is left of the first blocks is used as late as it can be, and then the home forgets these.
    network.clock.advance(MINUTE_MS - 1);
    const late = await allowed(limit * 2, limit);
    expect(late).toBeGreaterThan(limit * 0.95);
    network.clock.advance(1);
    const later = await allowed(limit, limit);
    expect(later).toBeGreaterThan(0);
    expect(late + later).toBeLessThanOrEqual(limit * 1.05);
    expect(network.bus.asked).toBeLessThan(200);
  });

  it.each([1, 2, 3])("at any times to any coordinators: within 5 %% (seed %i)", async (seed) => {
    network = new QuotaNetwork(["c1", "c2", "c3", "c4"]);
    const random = new Random(seed);
    const limit = 400;
    const times: number[] = [];
    const within = (): number => times.filter((ms) => ms > network.clock.monotonicMs() - MINUTE_MS).length;
    for (let round = 0; round < 4_000; round += 1) {
      network.clock.advance(random.between(0, 170));
      const { isAllowed } = await network.request(random.pick(["c1", "c1", "c2", "c3", "c4"]), "a", limit);
      if (isAllowed) times.push(network.clock.monotonicMs());
      const count = within();
      expect(count).toBeLessThanOrEqual(limit * 1.05);
      if (!isAllowed) expect(count).toBeGreaterThanOrEqual(limit * 0.95);
    }
  });

  it("are granted in equal parts without the bus, and together again when it is back", async () => {
    network = new QuotaNetwork(IDS);
    network.bus.setDown("cut");
    expect(await allowed(90, 60)).toBe(60);
    expect(await allowed(30, 60, ["c1"])).toBe(0);
    network.bus.setDown(null);
    network.clock.advance(MINUTE_MS);
    expect(await allowed(90, 60, ["c1"])).toBe(60);
  });

  it("do not wait for a home that stands still: it is asked once a second", async () => {
    network = new QuotaNetwork(IDS);
    for (const id of IDS) network.bus.frozen.add(id);
    // All that came to the home, and a third of the limit at each other.
    expect(await allowed(90, 60)).toBe(30 + 20 + 20);
    expect(network.bus.asked).toBe(2);
    network.clock.advance(1_000);
    await allowed(9, 60);
    expect(network.bus.asked).toBe(4);
  });

  it("find another home when theirs dies", async () => {
    network = new QuotaNetwork(IDS);
    expect(await allowed(100, 100)).toBe(100);
    for (const id of ["c1", "c2"]) {
      network.kill(id);
      network.clock.advance(MINUTE_MS);
      expect(await allowed(120, 100, ["c3"])).toBe(100);
    }
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { Random } from "../../support/random.ts";
import { QuotaNetwork } from "./quota-network.ts";

const MINUTE_MS = 60_000;
const IDS = ["c1", "c2", "c3"] as const;

describe("networkQuota().countRequest()", () => {
  let network: QuotaNetwork;
  afterEach(() => network.close());

  /** Sends `count` requests to the coordinators in rotation, and returns how many of them are allowed. */
  async function allowed(count: number, limit: number, ids: readonly string[] = IDS): Promise<number> {
    let sum = 0;
    for (let index = 0; index < count; index += 1) {
      const { isAllowed } = await network.request(ids[index % ids.length] as string, "a", limit);
      if (isAllowed) sum += 1;
    }
    return sum;
  }

  it("counts requests at all coordinators together, exactly for a small limit", async () => {
    network = new QuotaNetwork(IDS);
    expect(await allowed(150, 100)).toBe(100);
    network.clock.advance(MINUTE_MS);
    for (const id of IDS) expect(await allowed(50, 100, [id])).toBe(id === "c3" ? 0 : 50);
  });

  it("allows many concurrent requests up to the limit, with few messages", async () => {
    network = new QuotaNetwork(IDS);
    const all = await Promise.all(
      Array.from({ length: 300 }, (_, index) => network.request(IDS[index % 3] as string, "a", 100)),
    );
    expect(all.filter(({ isAllowed }) => isAllowed)).toHaveLength(100);
    expect(network.bus.asked).toBeLessThan(10);
  });

  it("returns the number of remaining requests, and when a refused one may be repeated", async () => {
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

  it("asks the owner once a second after a refusal, and applies a raised limit at once", async () => {
    network = new QuotaNetwork(IDS);
    await allowed(10, 10);
    const { asked } = network.bus;
    for (let tries = 0; tries < 50; tries += 1) await allowed(3, 10);
    expect(network.bus.asked - asked).toBeLessThanOrEqual(3);
    expect(await allowed(10, 12)).toBe(2);
  });

  it("asks the owner once for a block of a large limit, and exceeds the limit by at most 5 %", async () => {
    network = new QuotaNetwork(IDS);
    const limit = 6_000;
    expect(await allowed(30, limit)).toBe(30);
    // The coordinators use the rest of the first blocks as late as possible, just before the owner forgets them.
    network.clock.advance(MINUTE_MS - 1);
    const late = await allowed(limit * 2, limit);
    expect(late).toBeGreaterThan(limit * 0.95);
    network.clock.advance(1);
    const later = await allowed(limit, limit);
    expect(later).toBeGreaterThan(0);
    expect(late + later).toBeLessThanOrEqual(limit * 1.05);
    expect(network.bus.asked).toBeLessThan(200);
  });

  it.each([1, 2, 3])(
    "stays within 5 %% of the limit, whenever and wherever the requests arrive (seed %i)",
    async (seed) => {
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
    },
  );

  it("grants each coordinator an equal part while the bus is down, and counts together again afterwards", async () => {
    network = new QuotaNetwork(IDS);
    network.bus.setDown("cut");
    expect(await allowed(90, 60)).toBe(60);
    expect(await allowed(30, 60, ["c1"])).toBe(0);
    network.bus.setDown(null);
    network.clock.advance(MINUTE_MS);
    expect(await allowed(90, 60, ["c1"])).toBe(60);
  });

  it("does not wait for a stalled owner, which it asks once a second", async () => {
    network = new QuotaNetwork(IDS);
    for (const id of IDS) network.bus.frozen.add(id);
    // The owner receives all requests, and each other coordinator a third of the limit.
    expect(await allowed(90, 60)).toBe(30 + 20 + 20);
    expect(network.bus.asked).toBe(2);
    network.clock.advance(1_000);
    await allowed(9, 60);
    expect(network.bus.asked).toBe(4);
  });

  it("uses another owner when the owner dies", async () => {
    network = new QuotaNetwork(IDS);
    expect(await allowed(100, 100)).toBe(100);
    for (const id of ["c1", "c2"]) {
      network.kill(id);
      network.clock.advance(MINUTE_MS);
      expect(await allowed(120, 100, ["c3"])).toBe(100);
    }
  });
});

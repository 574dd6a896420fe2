import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RateLimitedError } from "../../../shared/errors.ts";
import { QuotaNetwork } from "./quota-network.ts";

const IDS = ["c1", "c2", "c3"] as const;
const LIMIT = 5;

describe("networkQuota().openStream()", () => {
  let network: QuotaNetwork;
  let accounts: readonly string[];
  beforeEach(() => {
    network = new QuotaNetwork(IDS);
    // All three coordinators own some of these accounts.
    accounts = Array.from({ length: 12 }, (_, index) => `account ${index}`);
  });
  afterEach(() => network.close());

  const open = async (id: string, accountId: string): Promise<() => void> =>
    network.of(id).openStream(accountId, LIMIT);
  /** Opens as many streams as allowed at these coordinators, in rotation. */
  async function fill(accountId: string, ids: readonly string[] = IDS): Promise<(() => void)[]> {
    const opened: (() => void)[] = [];
    for (let tries = 0; tries < 3 * LIMIT; tries += 1) {
      const release = await open(ids[tries % ids.length] as string, accountId).catch((error: unknown) => {
        expect(error).toBeInstanceOf(RateLimitedError);
      });
      if (release !== undefined) opened.push(release);
    }
    return opened;
  }
  /** Delivers messages in flight. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("counts streams exactly over all coordinators, and closing one allows another at any of them", async () => {
    for (const account of accounts) {
      const opened = await fill(account);
      expect(opened).toHaveLength(LIMIT);
      opened[3]?.();
      opened[3]?.();
      await settle();
      expect(await fill(account, ["c2"])).toHaveLength(1);
    }
  });

  it("opens concurrent streams up to the limit", async () => {
    for (const account of accounts) {
      const tries = Array.from({ length: 30 }, (_, index) => open(IDS[index % 3] as string, account));
      const results = await Promise.allSettled(tries);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(LIMIT);
    }
  });

  it("drops the streams of a dead coordinator, and still counts the others at the next owner", async () => {
    for (const account of accounts) {
      await open("c2", account);
      await open("c3", account);
      await open("c1", account);
    }
    network.kill("c1");
    await settle();
    for (const account of accounts) expect(await fill(account, ["c2", "c3"])).toHaveLength(LIMIT - 2);
  });

  it("allows all streams to resume at one other coordinator while the owner is silent", async () => {
    network.bus.frozen.add("c1");
    for (const account of accounts) expect(await fill(account, ["c2"])).toHaveLength(LIMIT);
  });

  it("counts streams at a new coordinator that becomes the owner", async () => {
    for (const account of accounts) await open("c2", account);
    network.join("c4");
    await settle();
    for (const account of accounts) expect(await fill(account, ["c4"])).toHaveLength(LIMIT - 1);
  });

  it("allows each coordinator an equal part while the bus is down, and reports closed streams afterwards", async () => {
    for (const account of accounts) {
      const before = await fill(account, ["c2"]);
      network.bus.setDown("cut");
      for (const release of before) release();
      expect(await fill(account)).toHaveLength(3);
      network.bus.setDown(null);
      await settle();
      network.clock.advance(1_000);
      await settle();
      expect(await fill(account)).toHaveLength(LIMIT - 3);
    }
  });

  it("reports streams again every minute, to an owner that considered this coordinator dead", async () => {
    for (const account of accounts) await open("c2", account);
    network.setLive(["c1", "c3"]);
    network.setLive(IDS);
    await settle();
    network.clock.advance(60_000);
    await settle();
    for (const account of accounts) expect(await fill(account, ["c3"])).toHaveLength(LIMIT - 1);
  });
});

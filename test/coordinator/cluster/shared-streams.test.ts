import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RateLimitedError } from "../../../shared/errors.ts";
import { QuotaNetwork } from "./quota-network.ts";

const IDS = ["c1", "c2", "c3"] as const;
const LIMIT = 5;

describe("open streams, with several coordinators", () => {
  let network: QuotaNetwork;
  let accounts: readonly string[];
  beforeEach(() => {
    network = new QuotaNetwork(IDS);
    // Their homes are all three.
    accounts = Array.from({ length: 12 }, (_, index) => `account ${index}`);
  });
  afterEach(() => network.close());

  const open = async (id: string, accountId: string): Promise<() => void> =>
    network.of(id).openStream(accountId, LIMIT);
  /** Opens as many as there may be at these coordinators, in turn. */
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
  /** Lets messages that are under way arrive. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("are counted together, exactly, and one that closes makes room anywhere", async () => {
    for (const account of accounts) {
      const opened = await fill(account);
      expect(opened).toHaveLength(LIMIT);
      opened[3]?.();
      opened[3]?.();
      await settle();
      expect(await fill(account, ["c2"])).toHaveLength(1);
    }
  });

  it("many at once are opened up to the limit", async () => {
    for (const account of accounts) {
      const tries = Array.from({ length: 30 }, (_, index) => open(IDS[index % 3] as string, account));
      const results = await Promise.allSettled(tries);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(LIMIT);
    }
  });

  it("of a coordinator that dies are closed, and those of the others still count at the next home", async () => {
    for (const account of accounts) {
      await open("c2", account);
      await open("c3", account);
      await open("c1", account);
    }
    network.kill("c1");
    await settle();
    for (const account of accounts) expect(await fill(account, ["c2", "c3"])).toHaveLength(LIMIT - 2);
  });

  it("all go on at one other coordinator while their home is silent", async () => {
    network.bus.frozen.add("c1");
    for (const account of accounts) expect(await fill(account, ["c2"])).toHaveLength(LIMIT);
  });

  it("count at the home that a new coordinator is", async () => {
    for (const account of accounts) await open("c2", account);
    network.join("c4");
    await settle();
    for (const account of accounts) expect(await fill(account, ["c4"])).toHaveLength(LIMIT - 1);
  });

  it("are opened in equal parts without the bus, and what closed meanwhile is told when it is back", async () => {
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

  it("are told again every minute, to a home that took this coordinator for dead", async () => {
    for (const account of accounts) await open("c2", account);
    network.setLive(["c1", "c3"]);
    network.setLive(IDS);
    await settle();
    network.clock.advance(60_000);
    await settle();
    for (const account of accounts) expect(await fill(account, ["c3"])).toHaveLength(LIMIT - 1);
  });
});

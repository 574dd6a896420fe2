import { afterAll, beforeAll, expect, it } from "vitest";
import { openStore } from "../../coordinator/store/open-store.ts";
import { systemClock } from "../../shared/clock.ts";
import { call } from "../support/http/http.ts";
import { LIES, LyingIsland } from "../support/network/lying-island.ts";
import { Network } from "../support/network/network.ts";

const SLUG = "tiny-chat";
const MAX_JOBS_OF_LIAR = 30;
const CLIENTS = 4;

let network: Network;
let key: string;
const owners = new Map<string, string>();
const liars = new Map<string, LyingIsland>();

beforeAll(async () => {
  network = await Network.open();
  ({ key } = network.createAccount("client@example.com", 1_000, { concurrentJobs: CLIENTS }));
  for (const name of ["one", "two", "three"]) {
    const { id, islandToken } = network.createAccount(`${name}@example.com`, 0);
    owners.set(name, id);
    await network.startIsland(name, islandToken);
  }
  for (const [name, tokens] of Object.entries(LIES)) {
    const { id, islandToken } = network.createAccount(`${name}@example.com`, 0);
    owners.set(name, id);
    liars.set(name, await LyingIsland.join([network.url], islandToken, tokens));
  }
}, 120_000);
afterAll(async () => {
  await Promise.all([...liars.values()].map((liar) => liar[Symbol.asyncDispose]()));
  await network[Symbol.asyncDispose]();
});

it("finds three liars among six owners, and refunds their clients", { timeout: 300_000 }, async () => {
  const store = await openStore(network.location, systemClock);
  const standings = async () => {
    const { standings: all } = await store.audits.standings(0);
    return new Map(all.map(({ ownerAccountId, standing }) => [ownerAccountId, standing]));
  };
  const quarantined = async (): Promise<string[]> => {
    const known = await standings();
    return [...owners].flatMap(([name, id]) => (known.get(id)?.state === "quarantined" ? [name] : []));
  };
  let nth = 0;
  const client = async (): Promise<void> => {
    while (nth < 200 && (await quarantined()).length < Object.keys(LIES).length) {
      nth += 1;
      const input = { prompt: `What is ${nth % 9} plus ${(3 * nth) % 9}?`, max_tokens: 40 };
      const sent = await call(network.url, key, "POST", "/jobs", { workload: SLUG, input });
      const { body } = await call(network.url, key, "GET", `/jobs/${sent.body.data.id}?wait=60`);
      expect(body.data.status).toBe("completed");
    }
  };
  try {
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(new Set(await quarantined())).toEqual(new Set(Object.keys(LIES)));
    for (const [name, { answered }] of liars) expect(answered, name).toBeLessThanOrEqual(MAX_JOBS_OF_LIAR);
    for (const [name, id] of owners) {
      const earned = await store.ledger.list(id, { limit: 100, offset: 0 });
      if (name in LIES) expect(earned.lines.filter(({ kind }) => kind === "earning")).toEqual([]);
    }
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
  } finally {
    await store.close();
  }
});

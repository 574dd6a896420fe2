import { randomBytes, randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { joinNetwork } from "../../island-agent/cli/join-command.ts";
import { dataDirectory, messageOf, useDataDirectory } from "../island-agent/cli/command-world.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { makeHello, makeIslandState } from "../support/network/frames.ts";
import { call, until } from "../support/http/http.ts";
import type { NatsServer } from "../support/servers/nats-server.ts";
import type { PostgresServer } from "../support/servers/postgres-server.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { withNats, withPostgres } from "../support/servers/with-servers.ts";

await withPostgres((postgres) => withNats((nats) => describeIslands(postgres, nats)));

function describeIslands(postgres: PostgresServer, nats: NatsServer): void {
  let one: TestCoordinator;
  let two: TestCoordinator;
  let host: NewAccount;
  useDataDirectory();
  beforeEach(async () => {
    const database = `islands_${randomBytes(4).toString("hex")}`;
    const location = { address: await postgres.createDatabase(database), key: randomBytes(32) };
    const open = () => TestCoordinator.open({ bus: nats.address, leaseRenewMs: 200 }, {}, location);
    [one, two] = [await open(), await open()];
    host = await one.createAccount("host@example.com");
  });
  afterEach(() => Promise.all([one, two].map((coordinator) => coordinator[Symbol.asyncDispose]())));

  const read = async (coordinator: TestCoordinator, hostId: string) =>
    (await call(coordinator.url, host.key, "GET", `/islands/${hostId}`)).body.data;

  describe("two coordinators", () => {
    it("list an Island that is connected to the other one, and disconnect it", async () => {
      const hostId = randomUUID();
      const facts = { features: [], slots: 4, contextTokens: null, parameters: null, quantization: null };
      const state = makeIslandState({ engineModels: [{ key: "engine:qwen3:8b", ...facts }] });
      const island = await FakeIsland.join(one.url, host.islandToken, { hostId, slots: 3, state });
      for (const coordinator of [one, two]) {
        const shown = await until(
          () => read(coordinator, hostId),
          ({ status }) => status === "online",
          "the other coordinator is known",
        );
        expect(shown).toMatchObject({ is_live: true, load: { slots: 3, slots_busy: 0 } });
        expect(shown.engine_models).toMatchObject([{ name: "qwen3:8b", declared: true, busy: false }]);
      }
      expect((await call(two.url, host.key, "GET", "/islands?status=online")).body.meta.total).toBe(1);
      expect((await call(two.url, host.key, "DELETE", `/islands/${hostId}`)).status).toBe(200);
      expect(await island.next("goodbye")).toMatchObject({ retryAfterMs: null });
      const refused = await FakeIsland.dial(two.url, host.islandToken);
      refused.send(makeHello({ hostId }));
      expect(await refused.next("goodbye")).toMatchObject({ retryAfterMs: null });
    });

    it("accept each other's pairing codes once", async () => {
      const { code } = (await call(one.url, host.key, "POST", "/island-tokens/pairing", {})).body.data;
      const join = (url: string) => joinNetwork({ urls: [url], credential: { code }, dataDirectory });
      await join(two.url);
      expect(await messageOf(join(one.url))).toMatch(/the pairing code is wrong, used/);
    });
  });
}

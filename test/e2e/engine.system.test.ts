import { constants, getPriority } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import type { Program } from "../support/program.ts";
import { LlamaServer } from "../support/servers/llama-server.ts";
import { describeOpenaiClient } from "./openai-client.cases.ts";

let engine: LlamaServer;
let network: Network;
let island: Program;

beforeAll(async () => {
  engine = await LlamaServer.start();
  network = await Network.open();
  const account = network.createAccount("host@example.com");
  island = await network.startIsland("island", account.islandToken, {
    "engines.urls": engine.url,
    "cargos.allow_runtimes": "engine",
  });
  const isReady = async (): Promise<string | undefined> =>
    (await network.islandStatus<AgentStatus>("island")).engines?.[0]?.state;
  await until(isReady, (state) => state === "ready", "the engine is ready");
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});

// The demo model's template has no tools, so llama-server would drop them.
describeOpenaiClient(() => network, { hasTools: false });

describe("an Island that lends a llama-server", () => {
  it("reports the engine, its model and its slots", async () => {
    const { engines, loaded } = await network.islandStatus<AgentStatus>("island");
    expect(engines).toMatchObject([
      { name: "llama-server", state: "ready", slots: 4, othersRunning: 0, problem: null },
    ]);
    expect(loaded.map(({ slug, ramBytes }) => ({ slug, ramBytes }))).toEqual([{ slug: "tiny-chat", ramBytes: 0 }]);
  });

  it("lets the engine run first", () => {
    expect(getPriority(island.process.pid)).toBeGreaterThanOrEqual(constants.priority.PRIORITY_BELOW_NORMAL);
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ClientNetwork } from "../support/client-network.ts";

const DIMENSIONS = 32;
const home = mkdtempSync(join(tmpdir(), "atoll-client-"));
// The library reads these variables when it is loaded.
vi.stubEnv("MEM0_TELEMETRY", "false");
vi.stubEnv("MEM0_DIR", home);
const { Memory } = await import("mem0ai/oss");

describe("Mem0 · chat", () => {
  let net: ClientNetwork;
  beforeAll(async () => {
    net = await ClientNetwork.open();
    await net.startEmbedder();
  });
  beforeEach(() => net.recorder.clear());
  afterAll(async () => {
    await net[Symbol.asyncDispose]();
    rmSync(home, { recursive: true });
  });

  function connect(apiKey = net.key, embedder = "tiny-embed") {
    const baseURL = `${net.url}/v1`;
    return new Memory({
      llm: { provider: "openai", config: { baseURL, apiKey, model: "scripted" } },
      embedder: { provider: "openai", config: { baseURL, apiKey, model: embedder, embeddingDims: DIMENSIONS } },
      vectorStore: {
        provider: "memory",
        config: { collectionName: "memories", dimension: DIMENSIONS, dbPath: join(home, `${crypto.randomUUID()}.db`) },
      },
      disableHistory: true,
    });
  }
  const remember = (memory: InstanceType<typeof Memory>) =>
    memory.add("An atoll is made of coral", { userId: "one", infer: false });
  const statuses = () => net.recorder.modelRequests.map(({ status }) => status);

  it("chat", async () => {
    net.scripted.script(() => ({ text: '{"memory":[{"id":"0","text":"Likes coral","attributed_to":"user"}]}' }));
    const { results } = await connect().add("I like coral", { userId: "one" });
    expect(results.map(({ memory }) => memory)).toEqual(["Likes coral"]);
  });

  it("creates embeddings", async () => {
    const memory = connect();
    await remember(memory);
    const { results } = await memory.search("the reef was built by corals", { filters: { user_id: "one" } });
    expect(results.map((result) => result.memory)).toEqual(["An atoll is made of coral"]);
    expect(net.recorder.modelRequests.map(({ body }) => JSON.parse(body).dimensions)).toContain(DIMENSIONS);
  });

  it("wrong key", async () => {
    await expect(remember(connect("ak_wrong"))).rejects.toMatchObject({ status: 401 });
    expect(statuses()).toEqual([401]);
  });

  it("unknown model", async () => {
    await expect(remember(connect(net.key, "no-such-model"))).rejects.toMatchObject({ status: 404 });
    expect(statuses()).toEqual([404]);
  });
});

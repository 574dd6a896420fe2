import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello, makeIslandState } from "../../support/network/frames.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
beforeAll(async () => {
  coordinator = await TestCoordinator.open();
});
afterAll(() => coordinator[Symbol.asyncDispose]());

let accounts = 0;
const newHost = () => coordinator.createAccount(`host${(accounts += 1)}@example.com`);
const ask = (key: string, method: string, path: string, body?: unknown) =>
  call(coordinator.url, key, method, path, body);

const declaredCargo = (name: string) => ({
  slug: `declared-${name.split(":")[0]}`,
  name,
  description: "A model of an engine",
  category: "llm",
  runtime_type: "engine",
  licence: "Apache-2.0",
  price_per_job: 0.01,
  required_ram_mb: 0,
  required_vram_mb: 0,
  model: { url: `engine:${name}`, sha256: null, size_bytes: null },
  context_tokens: 4_096,
  example_input: { prompt: "Hello" },
});

/** Waits until the API shows the status, because frames of an Island take time. */
const untilStatus = (key: string, hostId: string, status: string) =>
  until(
    async () => (await ask(key, "GET", `/islands/${hostId}`)).body.data,
    (island) => island.status === status,
    status,
  );

it("GET /availability lists the Cargos that connected Islands can run", async () => {
  const { key, islandToken } = await newHost();
  const has = async (): Promise<boolean> => {
    const { body } = await ask(key, "GET", "/availability");
    expect(body.is_complete).toBe(true);
    return body.data.some(({ slug }: { slug: string }) => slug === "tiny-chat");
  };
  expect((await call(coordinator.url, null, "GET", "/availability")).status).toBe(401);
  await using _island = await FakeIsland.join(coordinator.url, islandToken);
  expect(await has()).toBe(true);
});

describe("/islands", () => {
  it("shows an Island while it is connected, paused and gone", async () => {
    const { key, islandToken } = await newHost();
    const hostId = randomUUID();
    const hello = makeHello({ hostId, hostName: "garage", slots: 3 });
    const island = await FakeIsland.join(coordinator.url, islandToken, hello);
    const online = await untilStatus(key, hostId, "online");
    expect(online).toMatchObject({
      id: hostId,
      name: "garage",
      is_live: true,
      agent_version: hello.agentVersion,
      hardware: { platform: hello.hardware.platform, ram_mb: Math.floor(hello.hardware.ramBytes / 2 ** 20) },
      runtimes: hello.runtimes,
      load: { slots: 3, slots_busy: 0, cpu: hello.state.cpuLoad },
    });
    const cachedModels = [{ key: "hf:a/b:c.gguf", bytes: 5 }];
    island.send({
      type: "heartbeat",
      state: {
        ...hello.state,
        freeRamBytes: 7 * 2 ** 20,
        temperatureC: 61,
        gpuLoad: 0.87,
        cachedModels,
        loaded: ["tiny-chat"],
      },
    });
    island.send({ type: "draining" });
    expect(await untilStatus(key, hostId, "paused")).toMatchObject({
      load: { free_ram_mb: 7, temperature_c: 61, gpu: 0.87 },
      loaded: ["tiny-chat"],
      cached_models: ["hf:a/b:c.gguf"],
    });
    await island[Symbol.asyncDispose]();
    expect(await untilStatus(key, hostId, "offline")).toMatchObject({ load: null, loaded: [], name: "garage" });
  });

  it("shows downloads, loading models and running jobs, or what an older agent reports", async () => {
    const { key, islandToken } = await newHost();
    const hostId = randomUUID();
    const hello = makeHello({ hostId, slots: 2 });
    await using island = await FakeIsland.join(coordinator.url, islandToken, hello);
    const download = { slug: "big", fraction: 0.5, receivedBytes: 101, totalBytes: 202, bytesPerSecond: 4 };
    const older = { slug: "small", fraction: null };
    island.send({
      type: "heartbeat",
      state: { ...hello.state, downloads: [download, older], loading: ["other"] },
    });
    const submittedMs = Date.now();
    await ask(key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    await island.next("assign");
    const shown = await until(
      async () => (await ask(key, "GET", `/islands/${hostId}`)).body.data,
      ({ downloads, running }) => downloads.length === 2 && running.length === 1,
      "a report and a job",
    );
    expect(shown).toMatchObject({
      downloads: [
        { cargo: "big", fraction: 0.5, received_bytes: 101, total_bytes: 202, bytes_per_second: 4 },
        { cargo: "small", fraction: null, received_bytes: null, total_bytes: null, bytes_per_second: null },
      ],
      loading: ["other"],
      running: [{ cargo: "tiny-chat" }],
    });
    expect(Date.parse(shown.running[0].since)).toBeGreaterThanOrEqual(submittedMs - 1);
  });

  it("shows the models of the host's engines, with the Cargos that they serve", async () => {
    const { key, islandToken } = await newHost();
    const hostId = randomUUID();
    await using island = await FakeIsland.join(coordinator.url, islandToken, { hostId });
    const tiny = (await ask(key, "GET", "/cargos/tiny-chat")).body.data;
    const own = await ask(key, "POST", "/cargos", declaredCargo("qwen3:8b"));
    expect(own.status).toBe(201);
    const facts = { features: [], slots: 4, contextTokens: 4_096, parameters: "8B", quantization: "Q4_K_M" };
    const keys = [tiny.model_sha256, "engine:qwen3:8b", `hf:Qwen/Qwen3-8B#${"ab".repeat(20)}`];
    const engineModels = keys.map((name, index) => ({ key: name, ...facts, slots: index === 1 ? 0 : 4 }));
    island.send({ type: "heartbeat", state: makeIslandState({ engineModels }) });
    const shown = await until(
      async () => (await ask(key, "GET", `/islands/${hostId}`)).body.data.engine_models,
      ({ length }) => length > 0,
      "a report of the models",
    );
    const same = { context_length: 4_096, parameters: "8B", quantization: "Q4_K_M" };
    expect(shown).toEqual([
      { name: `sha256:${tiny.model_sha256}`, declared: false, cargos: ["tiny-chat"], ...same, busy: false },
      { name: "qwen3:8b", declared: true, cargos: ["declared-qwen3"], ...same, busy: true },
      { name: `Qwen/Qwen3-8B#${"ab".repeat(20)}`, declared: false, cargos: [], ...same, busy: false },
    ]);
  });

  it("shows at most 50 models of engines, and none in the list of Islands", async () => {
    const { key, islandToken } = await newHost();
    const hostId = randomUUID();
    await using island = await FakeIsland.join(coordinator.url, islandToken, { hostId });
    const facts = { features: [], slots: 4, contextTokens: null, parameters: null, quantization: null };
    const engineModels = Array.from({ length: 60 }, (_, index) => ({ key: `engine:m${index}`, ...facts }));
    island.send({ type: "heartbeat", state: makeIslandState({ engineModels }) });
    const shown = await until(
      async () => (await ask(key, "GET", `/islands/${hostId}`)).body.data.engine_models,
      ({ length }) => length > 0,
      "a report of the models",
    );
    expect(shown).toHaveLength(50);
    const [listed] = (await ask(key, "GET", "/islands")).body.data;
    expect(listed.engine_models).toBeUndefined();
  });

  it("lists the account's own Islands, connected ones first, by status and page", async () => {
    const [{ key, islandToken }, other] = [await newHost(), await newHost()];
    const [first, second, theirs] = [randomUUID(), randomUUID(), randomUUID()];
    await (await FakeIsland.join(coordinator.url, islandToken, { hostId: first }))[Symbol.asyncDispose]();
    await using _second = await FakeIsland.join(coordinator.url, islandToken, { hostId: second });
    await using _theirs = await FakeIsland.join(coordinator.url, other.islandToken, { hostId: theirs });
    await untilStatus(key, first, "offline");
    const idsOf = async (query: string) => {
      const { body } = await ask(key, "GET", `/islands${query}`);
      return [(body.data as { id: string }[]).map(({ id }) => id), body.meta.total];
    };
    expect(await idsOf("")).toEqual([[second, first], 2]);
    expect(await idsOf("?limit=1&offset=1")).toEqual([[first], 2]);
    expect(await idsOf("?status=online")).toEqual([[second], 1]);
    expect(await idsOf("?status=offline")).toEqual([[first], 1]);
    for (const [method, body] of [["GET"], ["PATCH", { name: "mine" }], ["DELETE"]] as const) {
      for (const id of [theirs, "x".repeat(2_000)]) {
        expect((await ask(key, method, `/islands/${id}`, body)).status).toBe(404);
      }
    }
  });

  it("renames an Island and restores its default name", async () => {
    const { key, islandToken } = await newHost();
    const hostId = randomUUID();
    await using _island = await FakeIsland.join(coordinator.url, islandToken, { hostId });
    const rename = async (name: string) => (await ask(key, "PATCH", `/islands/${hostId}`, { name })).body.data.name;
    expect(await rename(" <b>attic</b> ")).toBe("<b>attic</b>");
    expect(await rename("")).toBe(`island-${hostId.slice(0, 8)}`);
  });

  it("dismisses a removed Island with its job, and rejects it until it joins with a new token", async () => {
    const { key, islandToken } = await newHost();
    const hostId = randomUUID();
    const island = await FakeIsland.join(coordinator.url, islandToken, { hostId });
    const { body: submitted } = await ask(key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    await island.next("assign");
    await using another = await FakeIsland.join(coordinator.url, islandToken, { hostId: randomUUID() });
    expect((await ask(key, "DELETE", `/islands/${hostId}`)).body).toEqual({ data: { id: hostId, removed: true } });
    expect((await another.next("assign")).jobId).toBe(submitted.data.id);
    const farewell = { retryAfterMs: null, reason: expect.stringContaining("its owner removed this Island") as string };
    expect(await island.next("goodbye")).toMatchObject(farewell);
    expect((await ask(key, "GET", `/islands/${hostId}`)).status).toBe(404);
    expect((await ask(key, "DELETE", `/islands/${hostId}`)).status).toBe(404);

    const refused = await FakeIsland.dial(coordinator.url, islandToken);
    refused.send(makeHello({ hostId }));
    expect(await refused.next("goodbye")).toMatchObject(farewell);
    const { token } = (await ask(key, "POST", "/island-tokens", {})).body;
    await using _back = await FakeIsland.join(coordinator.url, token as string, { hostId });
    expect((await ask(key, "GET", `/islands/${hostId}`)).body.data.status).toBe("online");
  });
});

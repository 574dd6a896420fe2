import { describe, expect, it } from "vitest";
import { EngineReplay, type RecordedEngine } from "../../../support/servers/engine-replay.ts";
import { EngineWorld } from "./engine-world.ts";

const HASH = "a".repeat(64);
const COMMIT = "9213176726f574b556790deb65791e0c5aa438b6";
const NO_SLOTS = { slots: null };
/** Slots of an engine that does not report them. The number depends on the speed of the machine. */
const MEASURED = expect.any(Number) as number;

interface Expected {
  readonly name: string;
  readonly models: readonly object[];
  readonly slots: number;
  readonly othersRunning: number;
}

const EXPECTED: Readonly<Record<RecordedEngine, Expected>> = {
  ollama: {
    name: "Ollama",
    models: [
      {
        id: "llama3.2:latest",
        key: HASH,
        contextTokens: 32_768,
        quantization: "Q4_K_M",
        parameters: "3.2B",
        lacks: [],
      },
    ],
    slots: MEASURED,
    othersRunning: 0,
  },
  vllm: {
    name: "vLLM",
    models: [
      {
        id: "meta-llama/Llama-3.2-1B-Instruct",
        key: `hf:meta-llama/Llama-3.2-1B-Instruct#${COMMIT}`,
        contextTokens: 8_192,
      },
      { id: "sql-lora", key: "engine:sql-lora", contextTokens: null },
    ],
    slots: MEASURED,
    othersRunning: 3,
  },
  sglang: {
    name: "SGLang",
    models: [{ id: "qwen/qwen2.5-0.5b-instruct", key: "engine:qwen/qwen2.5-0.5b-instruct", contextTokens: 32_768 }],
    slots: 128,
    othersRunning: 2,
  },
  "lm-studio": {
    name: "LM Studio",
    models: [
      {
        id: "google/gemma-4-26b-a4b",
        contextTokens: 4_096,
        parameters: "26B-A4B",
        quantization: "Q4_K_M",
        readsImages: true,
      },
      { id: "text-embedding-nomic-embed-text-v1.5-embedding", task: "feature-extraction", contextTokens: 2_048 },
    ],
    slots: 4,
    othersRunning: 0,
  },
  "local-ai": {
    name: "LocalAI",
    models: [
      { id: "my-llama-model", task: null, readsImages: true, lacks: [] },
      { id: "bert-embeddings", task: "feature-extraction", lacks: ["tools"] },
    ],
    slots: MEASURED,
    othersRunning: 0,
  },
  "kobold-cpp": {
    name: "KoboldCpp",
    models: [{ id: "koboldcpp/Llama-3.2-1B-Instruct-Q4_K_M", contextTokens: 8_192, readsImages: true }],
    slots: 1,
    othersRunning: 2,
  },
  "llama-server": {
    name: "llama-server",
    models: [
      {
        id: "/models/tiny-islander.gguf",
        key: "engine:tiny-islander",
        contextTokens: 1_024,
        parameters: "1M",
        lacks: ["tools"],
      },
    ],
    slots: 4,
    othersRunning: 3,
  },
};

describe.each(Object.entries(EXPECTED))("the profile of %s", (engine, { name, models, slots, othersRunning }) => {
  it("recognises it and reads its models, slots and load", async () => {
    await using replay = await EngineReplay.open(engine as RecordedEngine);
    await using world = await EngineWorld.open(replay.url, NO_SLOTS);
    expect(world.engine.status()).toMatchObject({ name, state: "ready", slots, othersRunning, problem: null });
    const served = world.engine.served.map(({ model, key }) => ({ ...model, key }));
    expect(served).toMatchObject(models);
    expect(served).toHaveLength(models.length);
  });

  it("runs a chat", async () => {
    await using replay = await EngineReplay.open(engine as RecordedEngine);
    await using world = await EngineWorld.open(replay.url);
    const { text, result } = await world.chat();
    expect([text, result.finishReason]).toEqual(["The sea is calm.", "stop"]);
    expect(result.usage.completionTokens).toBeGreaterThan(1);
  });

  it("keeps its connections for several runs", async () => {
    await using replay = await EngineReplay.open(engine as RecordedEngine);
    await using world = await EngineWorld.open(replay.url);
    // The second run begins before the socket of the first is free.
    for (let run = 0; run < 2; run += 1) await world.chat();
    const { connections } = replay;
    for (let run = 0; run < 4; run += 1) await world.chat();
    expect(replay.connections).toBe(connections);
  });
});

describe("an engine's facts", () => {
  it("may change without a change of the model, such as the context when Ollama loads it", async () => {
    await using replay = await EngineReplay.open("ollama");
    const { "GET /api/ps": loaded } = replay.responses;
    replay.responses["GET /api/ps"] = { models: [] };
    await using world = await EngineWorld.open(replay.url);
    const [before] = world.engine.served;
    expect(before?.model.contextTokens).toBe(4_096);
    replay.responses["GET /api/ps"] = loaded;
    await world.chat();
    await world.engine.check();
    const [after] = world.engine.served;
    expect([after?.model.contextTokens, after?.gone === before?.gone]).toEqual([32_768, true]);
  });

  it.each([
    ["8192", [], 8_192],
    ["8192", [{ name: "llama3.2:latest", context_length: 32_768 }], 8_192],
    ["131072", [{ name: "llama3.2:latest", context_length: 65_536 }], 65_536],
  ])("have the context of Ollama's num_ctx %s, with %j in memory", async (set, loaded, context) => {
    await using replay = await EngineReplay.open("ollama");
    const shown = replay.responses["POST /api/show"] as { modelfile: string };
    shown.modelfile += `PARAMETER num_ctx ${set}\n`;
    replay.responses["GET /api/ps"] = { models: loaded };
    await using world = await EngineWorld.open(replay.url);
    await world.engine.check();
    expect(world.engine.served[0]?.model.contextTokens).toBe(context);
  });

  it("are not read again while a model's digest stays the same", async () => {
    await using replay = await EngineReplay.open("ollama");
    await using world = await EngineWorld.open(replay.url);
    await world.engine.check();
    expect(replay.posted.filter(({ path }) => path === "/api/show")).toHaveLength(1);
  });

  it.each(["ADAPTER /root/.ollama/models/blobs/sha256-1", 'SYSTEM """You are a pirate."""', "MESSAGE user Hi"])(
    "prove nothing about a model of Ollama with %s",
    async (line) => {
      await using replay = await EngineReplay.open("ollama");
      const shown = replay.responses["POST /api/show"] as { modelfile: string };
      shown.modelfile += `${line}\n`;
      await using world = await EngineWorld.open(replay.url);
      expect(world.engine.served.map(({ key }) => key)).toEqual(["engine:llama3.2:latest"]);
    },
  );

  it.each([[[]], [[{ id: 0, path: "pirate.gguf", scale: 1 }]]])(
    "prove the file of llama-server's model only without LoRA adapters: %j",
    async (adapters) => {
      await using replay = await EngineReplay.open("llama-server");
      replay.responses["GET /lora-adapters"] = adapters;
      await using world = await EngineWorld.open(replay.url);
      expect(world.engine.served[0]?.model.proof?.kind).toBe(adapters.length === 0 ? "file" : undefined);
    },
  );

  it("have the least slots of LM Studio's models", async () => {
    await using replay = await EngineReplay.open("lm-studio");
    const list = replay.responses["GET /api/v1/models"] as {
      models: { loaded_instances: { config: { parallel?: number } }[] }[];
    };
    const embedding = list.models.at(-1)?.loaded_instances[0];
    if (embedding !== undefined) embedding.config.parallel = 2;
    await using world = await EngineWorld.open(replay.url, NO_SLOTS);
    expect(world.engine.slots).toBe(2);
  });

  it("are declared under a tidy name of at most 100 characters", async () => {
    await using replay = await EngineReplay.open("vllm");
    const ids = ["a b<c>\u00e9", "C:\\models\\Tiny v1.gguf", "x".repeat(150)];
    replay.responses["GET /v1/models"] = { data: ids.map((id) => ({ id, owned_by: "vllm" })) };
    await using world = await EngineWorld.open(replay.url);
    const keys = world.engine.served.map(({ key }) => key);
    expect(keys).toEqual(["engine:a-b-c-", "engine:Tiny-v1", `engine:${"x".repeat(100)}`]);
  });
});

import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEngines, type Engines } from "../../../../island-agent/runtimes/engine/engines.ts";
import { systemClock } from "../../../../shared/clock.ts";
import { until } from "../../../support/http/http.ts";
import { EngineReplay } from "../../../support/servers/engine-replay.ts";
import { FakeLog, makeManifest, NEVER } from "../../builders.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-engines-"));
});
afterEach(() => rm(directory, { recursive: true }));

const SETTINGS = { apiKey: null, slots: 2, allowRemote: false, command: null };

/** Attaches engines, and waits until they are ready. */
async function open(urls: readonly string[], more: Partial<typeof SETTINGS> = {}): Promise<Engines> {
  const settings = { ...SETTINGS, ...more, urls };
  const engines = await openEngines(directory, settings, systemClock, new FakeLog(), () => undefined);
  const states = async (): Promise<string[]> => engines.status().map(({ state }) => state);
  await until(states, (all) => all.every((state) => state !== "checking"), "the engines were checked");
  return engines;
}

const cargoOf = (url: string, sha256: string | null = null, more: object = {}): ReturnType<typeof makeManifest> =>
  makeManifest({ model: { url, sha256, sizeBytes: null }, contextTokens: 1_024, ...more });

describe("the engines of a host", () => {
  it("serve the Cargo with the hash of the file that llama-server has loaded", async () => {
    await using replay = await EngineReplay.open("llama-server");
    const path = join(directory, "model.gguf");
    await writeFile(path, "GGUF");
    replay.rename(path);
    await using engines = await open([replay.url]);
    const sha256 = createHash("sha256").update("GGUF").digest("hex");
    expect(engines.serves(cargoOf("https://files.example/a.gguf", sha256))).toBe(true);
    expect(engines.serves(cargoOf("https://files.example/a.gguf", "b".repeat(64)))).toBe(false);
    expect(engines.load(cargoOf("https://files.example/a.gguf", sha256))?.memory).toEqual({
      ramBytes: 0,
      vramBytes: 0,
    });
    expect(engines.reports()).toMatchObject([{ key: sha256, contextTokens: 1_024, quantization: "F16" }]);
  });

  it("have no proof in a path below an unknown folder, or of another machine", async () => {
    await using local = await EngineReplay.open("llama-server");
    await using remote = await EngineReplay.open("llama-server");
    // The file exists in this process' folder.
    local.rename("package.json");
    remote.rename(join(process.cwd(), "package.json"));
    await using engines = await open([local.url, remote.url.replace("127.0.0.1", "0.0.0.0")], { allowRemote: true });
    const keys = engines.reports().map(({ key }) => key);
    expect(keys).toEqual([expect.stringMatching(/^engine:/), expect.stringMatching(/^engine:/)]);
  });

  it("serve another Cargo once the file was replaced", async () => {
    await using replay = await EngineReplay.open("llama-server");
    const path = join(directory, "model.gguf");
    await writeFile(path, "GGUF");
    replay.rename(path);
    await using engines = await open([replay.url]);
    const [before] = engines.reports();
    await writeFile(path, "another");
    const keys = async (): Promise<string[]> => engines.reports().map(({ key }) => key);
    const sha256 = createHash("sha256").update("another").digest("hex");
    await until(keys, ([key]) => key === sha256, "the new file was read");
    expect(before?.key).not.toBe(sha256);
  });

  it("serve declared Cargos and those of a commit by their address", async () => {
    await using replay = await EngineReplay.open("vllm");
    await using engines = await open([replay.url]);
    const commit = "9213176726f574b556790deb65791e0c5aa438b6";
    const served = ["engine:sql-lora", `hf:meta-llama/Llama-3.2-1B-Instruct#${commit}`, "engine:other"];
    expect(served.map((url) => engines.serves(cargoOf(url, null, { runtimeType: "engine" })))).toEqual([
      true,
      true,
      false,
    ]);
    const onnx = { runtimeType: "onnx", onnxTaskType: "feature-extraction" };
    expect(engines.serves(cargoOf(`hf:meta-llama/Llama-3.2-1B-Instruct#${commit}`, null, onnx))).toBe(false);
  });

  it("serve Cargos of at most 4,096 tokens if they do not report their context", async () => {
    await using replay = await EngineReplay.open("vllm");
    await using engines = await open([replay.url]);
    const contexts = [4_096, 4_097].map((contextTokens) => cargoOf("engine:sql-lora", null, { contextTokens }));
    expect(contexts.map((cargo) => engines.serves(cargo))).toEqual([true, false]);
  });

  it("serve no Cargo with adapters or with a longer context", async () => {
    await using replay = await EngineReplay.open("sglang");
    await using engines = await open([replay.url]);
    const url = "engine:qwen/qwen2.5-0.5b-instruct";
    const adapters = [{ url: "https://files.example/l.gguf", sha256: "a".repeat(64), sizeBytes: 1, scale: 1 }];
    expect(engines.serves(cargoOf(url))).toBe(true);
    expect(engines.serves(cargoOf(url, null, { adapters }))).toBe(false);
    expect(engines.serves(cargoOf(url, null, { contextTokens: 32_769 }))).toBe(false);
  });

  it("serve no Cargo that ranks texts on an engine without reranking", async () => {
    await using ollama = await EngineReplay.open("ollama");
    await using engines = await open([ollama.url]);
    const cargo = cargoOf("https://files.example/a.gguf", "a".repeat(64));
    expect([engines.serves(cargo), engines.serves({ ...cargo, task: "text-ranking" })]).toEqual([true, false]);
  });

  it("report the features of the engine without those that the model lacks, and whether it reads images", async () => {
    await using kobold = await EngineReplay.open("kobold-cpp");
    await using llama = await EngineReplay.open("llama-server");
    await using ollama = await EngineReplay.open("ollama");
    await using engines = await open([kobold.url, llama.url, ollama.url]);
    const own = engines.reports().map(({ features }) => features.filter((name) => /^chat\.(?!large|long)/.test(name)));
    expect(own).toEqual([
      ["chat.raw", "chat.images"],
      ["chat.json", "chat.schema2", "chat.logprobs", "chat.raw", "chat.sampling2"],
      ["chat.json", "chat.schema2", "chat.tools", "chat.tools-json"],
    ]);
  });

  it("no longer report tools once the engine has refused them for lack of a flag", async () => {
    await using replay = await EngineReplay.open("vllm");
    await using engines = await open([replay.url]);
    const features = (): readonly string[] => engines.reports()[0]?.features ?? [];
    expect(features()).toContain("chat.tools");
    const message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
    replay.misbehave({ status: 400, body: JSON.stringify({ error: { message } }) });
    const cargo = engines.load(cargoOf("engine:sql-lora"));
    const run = cargo?.run({ input: { prompt: "Hi" }, resume: null }, () => undefined, NEVER);
    await expect(run).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
    expect(features()).toContain("chat.json");
    expect(features()).not.toContain("chat.tools");
    expect(engines.status()).toMatchObject([{ state: "ready" }]);
  });

  it("send the API key to the engine only", async () => {
    await using replay = await EngineReplay.open("vllm");
    await using engines = await open([replay.url], { apiKey: "secret" as never });
    expect(new Set(replay.authorizations)).toEqual(new Set(["Bearer secret"]));
    expect(JSON.stringify([engines.reports(), engines.status()])).not.toContain("secret");
  });

  it.each(["http://192.0.2.1:8080", "http://127.0.0.1.example:8080", "http://[::2]:1"])(
    "may not be on another machine such as %s without permission",
    async (url) => {
      await expect(open([url])).rejects.toThrow("engines.allow_remote true");
    },
  );

  it("report the slots that other clients leave to jobs", async () => {
    await using replay = await EngineReplay.open("llama-server");
    replay.responses["GET /metrics"] = "llamacpp:requests_processing 1\n";
    await using engines = await open([replay.url]);
    expect(engines.reports()).toMatchObject([{ slots: 1 }]);
  });

  it("report nothing while they are unavailable", async () => {
    await using engines = await open(["http://127.0.0.1:9"]);
    expect(engines.reports()).toEqual([]);
    expect(engines.status()).toMatchObject([
      { state: "unavailable", problem: expect.stringContaining("ECONNREFUSED") },
    ]);
  });
});

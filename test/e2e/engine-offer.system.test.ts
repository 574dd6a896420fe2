import { copyFile, mkdtempDisposable, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { LlamaServer, TINY_CHAT_MODEL } from "../support/servers/llama-server.ts";

const SLUG = "declared-small";
const CARGO = {
  slug: SLUG,
  name: "Small",
  description: "For a test",
  category: "llm",
  runtime_type: "engine",
  licence: "MIT",
  price_per_job: 0.01,
  required_ram_mb: 0,
  required_vram_mb: 0,
  model: { url: "engine:small", sha256: null, size_bytes: null },
  context_tokens: 1_024,
  example_input: { prompt: "Hi" },
};

it("a host offers a declared model, which other accounts can use once the operator has approved it", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "offer-"));
  const model = join(folder.path, "model.gguf");
  await copyFile(TINY_CHAT_MODEL, model);
  await using engine = await LlamaServer.start({ model, flags: ["--alias", "small"] });
  // Without its file, nothing proves what the engine has loaded.
  await rm(model);
  await using network = await Network.open();
  const host = network.createAccount("host@example.com");
  const client = network.createAccount("client@example.com");
  await network.startIsland("attic", host.islandToken, {
    "engines.urls": engine.url,
    "cargos.allow_runtimes": "engine",
  });
  const chat = async (key: string) => {
    const messages = [{ role: "user", content: "Count from 1 to 5." }];
    return (await call(network.url, key, "POST", "/chat/completions", { model: SLUG, messages, temperature: 0 })).body;
  };
  const answer = { model: SLUG, choices: [{ message: { content: "1, 2, 3, 4, 5." } }] };
  const [{ id: islandId }] = (await call(network.url, host.key, "GET", "/islands")).body.data;
  const shown = async () => (await call(network.url, host.key, "GET", `/islands/${islandId}`)).body.data.engine_models;
  const declared = { name: "small", declared: true, context_length: 1_024 };
  await until(shown, ({ length }) => length === 1, "the engine's model");
  expect(await shown()).toMatchObject([{ ...declared, cargos: [] }]);

  expect((await call(network.url, host.key, "POST", "/cargos", CARGO)).status).toBe(201);
  expect(await shown()).toMatchObject([{ ...declared, cargos: [SLUG] }]);
  expect(await chat(host.key)).toMatchObject(answer);
  expect(await chat(client.key)).toMatchObject({ error: { code: "model_not_found" } });

  const { revision } = await network.manage<{ revision: string }>("cargo", "show", SLUG);
  await network.manage("cargo", "approve", SLUG, "--revision", revision);
  await until(
    () => chat(client.key),
    ({ error }) => error === undefined,
    "the approval",
  );
  expect(await chat(client.key)).toMatchObject(answer);
  const models = (await call(network.url, client.key, "GET", "/models")).body.data as { id: string }[];
  expect(models.find(({ id }) => id === SLUG)).toMatchObject({ declared: true, available: true, islands_ready: 1 });
});

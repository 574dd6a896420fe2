import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCatalog } from "../../../coordinator/catalog/catalog-sync.ts";
import { CatalogError } from "../../../coordinator/catalog/load-catalog.ts";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { testEnv } from "../../support/test-env.ts";
import { NumberingCatalogStore } from "./numbering-catalog-store.ts";

const CHAT = {
  slug: "alpha",
  name: "Alpha",
  description: "For tests",
  category: "llm",
  runtime_type: "llmcpp",
  licence: "MIT",
  price_per_job: 1,
  required_ram_mb: 1,
  required_vram_mb: 0,
  model: { url: "/models/a.gguf", sha256: null, size_bytes: null },
  context_tokens: 10,
  example_input: { prompt: "Hello" },
};
const WASM = {
  ...CHAT,
  slug: "beta",
  category: "utility",
  runtime_type: "wasm",
  required_ram_mb: 256,
  context_tokens: null,
  input_schema: { type: "object" },
};

describe("openCatalog()", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-catalog-"));
    await mkdir(join(directory, "cargos"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  function put(name: string, file: object | string): Promise<void> {
    return writeFile(join(directory, "cargos", name), typeof file === "string" ? file : JSON.stringify(file));
  }
  const open = (store: NumberingCatalogStore, defaults: Partial<CoordinatorConfig>) =>
    openCatalog(testEnv({ catalogDirectory: directory, ...defaults }), store);
  async function problems(
    defaults: Partial<CoordinatorConfig> = { defaultChatCargo: "alpha" },
  ): Promise<readonly string[]> {
    const error: unknown = await open(new NumberingCatalogStore(), defaults).catch((e: unknown) => e);
    if (!(error instanceof CatalogError)) throw new Error("It did not refuse", { cause: error });
    return error.problems;
  }
  const at = (name: string): string => join(directory, "cargos", name);

  it("gives every Cargo the number that the store has for its slug", async () => {
    await put("a.json", CHAT);
    await put("b.json", WASM);
    await put("README.md", "no Cargo");
    const store = new NumberingCatalogStore();
    await store.numberCargos(["gone", "beta"], 0);
    const { catalog } = await open(store, { defaultChatCargo: "alpha" });
    expect(catalog.list().map(({ slug, workloadId }) => [slug, workloadId])).toEqual([
      ["alpha", 3],
      ["beta", 2],
    ]);
    expect(catalog.defaultChatSlug).toBe("alpha");
  });
  it("names file and field of every problem", async () => {
    await put("a.json", CHAT);
    await put("b.json", { ...WASM, price_per_job: -1 });
    await put("c.json", "{");
    expect(await problems()).toEqual([
      expect.stringContaining(`${at("b.json")}: price_per_job: `),
      expect.stringContaining(`${at("c.json")}: is not JSON`),
    ]);
  });
  it("rejects a slug that two files have", async () => {
    await put("a.json", CHAT);
    await put("b.json", { ...WASM, slug: "alpha" });
    expect(await problems()).toEqual([`${at("b.json")}: slug: "alpha" is also the slug of ${at("a.json")}`]);
  });
  it("rejects a default that is missing or not a chat Cargo", async () => {
    await put("a.json", CHAT);
    await put("b.json", WASM);
    expect(await problems({ defaultChatCargo: "gamma" })).toEqual([
      'default_chat_cargo: "gamma" is not in the catalog; chat Cargos: alpha',
    ]);
    expect(await problems({ defaultChatCargo: "beta" })).toEqual([
      'default_chat_cargo: "beta" is not a chat Cargo; chat Cargos: alpha',
    ]);
  });
  it("rejects a default of another endpoint that is missing or of another kind, and uses shipped defaults only", async () => {
    await put("a.json", CHAT);
    await put("b.json", WASM);
    expect(
      await problems({
        defaultChatCargo: "alpha",
        defaultEmbeddingCargo: "gamma",
        defaultImageCargo: "alpha",
        defaultSpeechCargo: null,
      }),
    ).toEqual([
      'default_embedding_cargo: "gamma" is not in the catalog; embedding Cargos: none',
      'default_image_cargo: "alpha" is not a Cargo that generates images; image Cargos: none',
    ]);
    const { catalog } = await open(new NumberingCatalogStore(), { defaultChatCargo: "alpha" });
    expect(() => catalog.defaultSlug("embedding")).toThrow("default_embedding_cargo");
  });
  it("uses the shipped Cargo of an endpoint unless a default is set", async () => {
    const embedder = { ...WASM, runtime_type: "onnx", onnx_task_type: "feature-extraction", category: "text" };
    await put("a.json", CHAT);
    await put("b.json", { ...embedder, slug: "tiny-embed" });
    await put("c.json", { ...embedder, slug: "beta" });
    const { catalog } = await open(new NumberingCatalogStore(), {
      defaultChatCargo: "alpha",
      defaultRerankCargo: "beta",
    });
    expect([catalog.defaultSlug("embedding"), catalog.defaultSlug("rerank")]).toEqual(["tiny-embed", "beta"]);
  });
  it("rejects an empty or missing folder", async () => {
    expect(await problems()).toEqual([`${join(directory, "cargos")}: has no Cargo files (*.json)`]);
    await rm(join(directory, "cargos"), { recursive: true });
    expect((await problems())[0]).toContain("ENOENT");
  });
});

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";

const CATALOG = join(import.meta.dirname, "..", "..", "catalog");
const MODEL = join(CATALOG, "models", "tiny-islander.gguf");

let catalog: string;
let server: Server;
let network: Network;
let key: string;

/** A hub that closes every connection in the middle of the file. */
function openBrokenHub(model: Buffer): Promise<Server> {
  const hub = createServer((_request, response) => {
    response.writeHead(200, { "content-length": model.length });
    response.write(model.subarray(0, 1_000), () => response.destroy());
  });
  return new Promise((resolve) => {
    hub.listen(0, "127.0.0.1", () => resolve(hub));
  });
}

beforeAll(async () => {
  server = await openBrokenHub(await readFile(MODEL));
  catalog = await mkdtemp(join(tmpdir(), "atoll-catalog-"));
  await mkdir(join(catalog, "cargos"));
  await mkdir(join(catalog, "models"));
  await copyFile(MODEL, join(catalog, "models", "tiny-islander.gguf"));
  await writeFile(join(catalog, "models", "text.gguf"), "This is not a model.");
  const tiny = JSON.parse(await readFile(join(CATALOG, "cargos", "tiny-chat.json"), "utf8")) as { model: object };
  const cargos = {
    "tiny-chat": tiny.model,
    "wrong-hash": { ...tiny.model, sha256: "0".repeat(64) },
    "not-a-gguf": { url: "/models/text.gguf", sha256: null, size_bytes: null },
    "no-such-model": { url: "/models/missing.gguf", sha256: null, size_bytes: null },
    truncated: { url: "hf:owner/repo:model.gguf", sha256: null, size_bytes: null },
  };
  const component = { url: "/models/component.wasm", sha256: null, size_bytes: null };
  await writeFile(join(catalog, "models", "component.wasm"), Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]));
  const utility = JSON.parse(await readFile(join(CATALOG, "cargos", "markdown-to-html.json"), "utf8")) as object;
  await writeFile(
    join(catalog, "cargos", "component.json"),
    JSON.stringify({ ...utility, slug: "component", model: component }),
  );
  for (const [slug, model] of Object.entries(cargos)) {
    await writeFile(join(catalog, "cargos", `${slug}.json`), JSON.stringify({ ...tiny, slug, model }));
  }
  network = await Network.open(["--catalog-directory", catalog, "--max-attempts", "1"]);
  const account = network.createAccount("client@example.com");
  key = account.key;
  const hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await network.startIsland("island", account.islandToken, {
    "models.hub_endpoint": hub,
    "cargos.allow_runtimes": "llmcpp,wasm",
  });
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  server.close();
  await rm(catalog, { recursive: true, force: true });
});

async function run(
  workload: string,
  input: object = { prompt: "Count from 3 to 9.", temperature: 0 },
): Promise<{ status: string; output?: string; error: { code: string; message: string } | null }> {
  const { body } = await call(network.url, key, "POST", "/jobs", { workload, input });
  const ended = await until(
    async () => (await call(network.url, key, "GET", `/jobs/${body.data.id}`)).body.data,
    ({ status }) => !["pending", "queued", "running"].includes(status),
    `${workload} ended`,
  );
  return ended;
}

describe("an agent with unusable models", () => {
  it.each([
    ["wrong-hash", "model_hash_mismatch", /SHA-256/i],
    ["not-a-gguf", "model_invalid", /GGUF/i],
    ["no-such-model", "model_unavailable", /404/],
    ["truncated", "model_unavailable", /./],
  ])("fails a job of %s with %s", async (workload, code, message) => {
    const job = await run(workload);
    expect(job).toMatchObject({ status: "failed", error: { code } });
    expect(job.error?.message).toMatch(message);
  });

  it("fails a job of a WebAssembly component with model_invalid", async () => {
    const job = await run("component", { markdown: "# a" });
    expect(job).toMatchObject({ status: "failed", error: { code: "model_invalid" } });
    expect(job.error?.message).toMatch(/component.*wasm32-wasip1/);
  });

  it("runs the next job afterwards", async () => {
    expect(await run("tiny-chat")).toMatchObject({ status: "completed", output: "3, 4, 5, 6, 7, 8, 9." });
  });
});

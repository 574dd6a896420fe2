import { copyFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { call, until } from "../support/http/http.ts";
import { encodeGguf } from "../support/models/gguf-file.ts";
import { splitGguf } from "../support/models/split-gguf.ts";
import { Network } from "../support/network/network.ts";
import { HubServer, sendRange } from "../support/servers/hub-server.ts";

const MODEL = join(import.meta.dirname, "../../catalog/models/tiny-islander.gguf");
const TINY = readFileSync(MODEL);
const [FIRST = TINY, SECOND = TINY] = await splitGguf(TINY, 2);
const PROJECTOR = encodeGguf({ "general.architecture": { type: "string", value: "clip" } }, [
  { name: "mm.0.weight", dims: [4, 4] },
]);
const FILES = {
  "tiny-Q4_K_M-00001-of-00002.gguf": FIRST,
  "tiny-Q4_K_M-00002-of-00002.gguf": SECOND,
  "mmproj-F16.gguf": PROJECTOR,
};
const COUNT = { messages: [{ role: "user" as const, content: "Count from 3 to 9." }], temperature: 0 };

let hub: HubServer;
let network: Network;
let key: string;
beforeAll(async () => {
  hub = await HubServer.start();
  hub.hasCdn = false;
  network = await Network.open(["--max-attempts", "1"]);
  const account = network.createAccount("host@example.com");
  key = account.key;
  await network.startIsland("island", account.islandToken, {
    "models.hub_endpoint": hub.url,
    "models.hub_token": "of-the-island",
  });
});
afterEach(() => hub.heal());
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await hub[Symbol.asyncDispose]();
});

async function add(source: string, ...flags: string[]): Promise<string> {
  const added = await network.manage<{ slug: string }>(
    "cargo",
    "add",
    source,
    "--hub",
    hub.url,
    "--allow-private",
    ...flags,
  );
  await until(
    () => call(network.url, null, "GET", `/cargos/${added.slug}`),
    ({ status }) => status === 200,
    "the Cargo is offered",
  );
  return added.slug;
}

async function chat(model: string): Promise<string | null | undefined> {
  const client = new OpenAI({ apiKey: key, baseURL: `${network.url}/api/v1`, maxRetries: 0 });
  return (await client.chat.completions.create({ model, ...COUNT })).choices[0]?.message.content;
}

async function failureOf(workload: string): Promise<{ code: string; message: string }> {
  const { body } = await call(network.url, key, "POST", "/jobs", { workload, input: COUNT });
  const ended = await until(
    async () => (await call(network.url, key, "GET", `/jobs/${body.data.id}`)).body.data,
    ({ status }) => !["pending", "queued", "running"].includes(status),
    `${workload} ended`,
  );
  expect(ended.status).toBe("failed");
  return ended.error;
}

describe("a model added with one command", () => {
  it("answers the openai client: split into two files, with a projector, from the hub", async () => {
    hub.put("maker/split-GGUF", FILES);
    expect(await chat(await add("hf.co/maker/split-GGUF"))).toBe("3, 4, 5, 6, 7, 8, 9.");
    const downloads = hub.requests.filter(({ path, range }) => path.includes("signature=") && range === undefined);
    expect(downloads).toHaveLength(3);
  });

  it("answers from a file on the coordinator's disk, which the Island downloads from there", async () => {
    const path = join(network.directory, "mine.gguf");
    await copyFile(MODEL, path);
    expect(await chat(await add(path))).toBe("3, 4, 5, 6, 7, 8, 9.");
  });

  it("is downloaded with the Island's own token if it is gated, not with the operator's", async () => {
    hub.put("maker/gated", { "gated.gguf": TINY }, { token: "of-the-island" });
    const { stderr, code } = await network.run(
      "cargo",
      "add",
      "hf.co/maker/gated",
      "--hub",
      hub.url,
      "--allow-private",
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining("set HF_TOKEN to your access token")]);
    const readable = hub.put("maker/gated", { "gated.gguf": TINY });
    const slug = await add("hf.co/maker/gated");
    readable.token = "of-the-island";
    expect(await chat(slug)).toBe("3, 4, 5, 6, 7, 8, 9.");
  });

  it("fails with the reason if the hub then sends other bytes, or has another revision", async () => {
    hub.put("maker/tampered", {
      "a-00001-of-00002.gguf": FIRST,
      "a-00002-of-00002.gguf": Buffer.concat([SECOND, Buffer.of(0)]),
    });
    const slug = await add("hf.co/maker/tampered");
    hub.fail(/00002.*signature/, (request, response) => sendRange(Buffer.alloc(SECOND.length + 1), request, response));
    expect(await failureOf(slug)).toMatchObject({
      code: "model_hash_mismatch",
      message: expect.stringContaining("model-00002-of-00002.gguf: The downloaded model has the SHA-256") as string,
    });
    hub.heal();
    const moved = hub.put("maker/moved", { "b.gguf": Buffer.concat([TINY, Buffer.of(1)]) });
    const other = await add("hf.co/maker/moved");
    moved.commit = "f".repeat(40);
    expect(await failureOf(other)).toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("responded with status 404") as string,
    });
  });
});

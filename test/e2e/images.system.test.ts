import { createHash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { MAX_IMAGES_BYTES } from "../../shared/chat-images.ts";
import { call, until } from "../support/http/http.ts";
import { encodePng } from "../support/models/test-images.ts";
import { makeTinyProjector } from "../support/models/tiny-projector.ts";
import { Network } from "../support/network/network.ts";
import { LlamaServer, llamaServerCommand, TINY_CHAT_MODEL } from "../support/servers/llama-server.ts";
import { SHIPPED_CATALOG } from "../support/small-catalog.ts";

const COMMAND = `${llamaServerCommand()} -m {model} --host {socket} -np {slots} -c {context} --threads 1`;
const square = (colour: "red" | "green"): Buffer =>
  encodePng(32, 32, [{ colour, left: 0, top: 0, right: 32, bottom: 32 }]);
const dataUrl = (png: Buffer): string => `data:image/png;base64,${png.toString("base64")}`;
const RED = dataUrl(square("red"));
const GREEN = dataUrl(square("green"));
/** What the demo model completes if the image reads as "Tell me a story", and as "How are you". */
const OF_RED = /^Every morning/;
const OF_GREEN = "I am well, thank you. The sea is calm today.";
const model = "tiny-vision";
const sampling = { temperature: 0, max_tokens: 16 };

let catalog: string;
let projector: string;
let server: Server;

/** Makes a catalog with the demo model twice: with a projector, and as it is shipped. */
beforeAll(async () => {
  catalog = await mkdtemp(join(tmpdir(), "atoll-catalog-"));
  await mkdir(join(catalog, "cargos"));
  await mkdir(join(catalog, "models"));
  const bytes = await makeTinyProjector();
  projector = join(catalog, "models", "tiny-mmproj.gguf");
  await writeFile(projector, bytes);
  await cp(TINY_CHAT_MODEL, join(catalog, "models", "tiny-islander.gguf"));
  const text = await readFile(join(SHIPPED_CATALOG, "cargos", "tiny-chat.json"), "utf8");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const file = { url: "/models/tiny-mmproj.gguf", sha256, size_bytes: bytes.length };
  await writeFile(join(catalog, "cargos", "tiny-chat.json"), text);
  await writeFile(
    join(catalog, "cargos", "tiny-vision.json"),
    JSON.stringify({ ...JSON.parse(text), slug: model, projector: file }),
  );
  server = createServer((_request, response) => response.end(square("green"))).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.close();
  await rm(catalog, { recursive: true });
});

/** Opens a network whose Island has these settings. */
async function openNetwork(settings: Record<string, string>): Promise<Network> {
  const network = await Network.open(["--catalog-directory", catalog, "--webhook-allow-private", "true"]);
  const account = network.createAccount("host@example.com");
  await network.startIsland("island", account.islandToken, settings);
  return network;
}

function describeImages(open: () => Promise<Network>): void {
  let network: Network;
  let openai: OpenAI;
  let key: string;

  beforeAll(async () => {
    network = await open();
    key = network.createAccount("client@example.com").key;
    openai = new OpenAI({ apiKey: key, baseURL: `${network.url}/api/v1`, maxRetries: 0 });
  });
  afterAll(() => network[Symbol.asyncDispose]());

  it.each([
    ["a red one", RED, expect.stringMatching(OF_RED)],
    ["a green one", GREEN, OF_GREEN],
  ])("an image changes the completion of the openai client: %s", async (_colour, url, content) => {
    const { choices, usage } = await openai.chat.completions.create({
      model,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url, detail: "low" } }] }],
      ...sampling,
    });
    expect(choices[0]?.message.content).toEqual(content);
    // Four of the image, the others of the template.
    expect(usage?.prompt_tokens).toBe(11);
  });

  it("an image may have 3 MiB", async () => {
    const png = square("green");
    const url = dataUrl(Buffer.concat([png, Buffer.alloc(MAX_IMAGES_BYTES - png.length)]));
    const messages = [{ role: "user" as const, content: [{ type: "image_url" as const, image_url: { url } }] }];
    const { choices } = await openai.chat.completions.create({ model, messages, ...sampling });
    expect(choices[0]?.message.content).toBe(OF_GREEN);
  });

  it("an image with a text is streamed", async () => {
    const content = [
      { type: "image_url" as const, image_url: { url: GREEN } },
      { type: "text" as const, text: "?" },
    ];
    const messages = [{ role: "user" as const, content }];
    let text = "";
    for await (const { choices } of await openai.chat.completions.create({
      model,
      messages,
      ...sampling,
      stream: true,
    })) {
      text += choices[0]?.delta.content ?? "";
    }
    expect(text).toBe(OF_GREEN);
  });

  it("the coordinator downloads an image, and stores it with the job", async () => {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/green.png`;
    const response = await openai.responses.create({
      model,
      input: [{ role: "user", content: [{ type: "input_image", image_url: url, detail: "auto" }] }],
      temperature: 0,
      max_output_tokens: 16,
    });
    expect(response.output_text).toBe(OF_GREEN);
    const { body } = await call(network.url, key, "GET", `/jobs/${response.id.replace("resp_", "job_")}`);
    expect(JSON.stringify(body)).toContain(JSON.stringify({ type: "image_url", image_url: { url: GREEN } }));
    const next = await openai.responses.create({ model, input: "Hello", previous_response_id: response.id });
    expect(next.output_text).not.toBe("");
  });

  it("the Anthropic SDK sends an image", async () => {
    const anthropic = new Anthropic({ apiKey: key, baseURL: `${network.url}/api`, maxRetries: 0 });
    const data = square("red").toString("base64");
    const { content } = await anthropic.messages.create({
      model,
      messages: [
        { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data } }] },
      ],
      ...sampling,
    });
    expect(content).toEqual([{ type: "text", text: expect.stringMatching(OF_RED) as string }]);
  });

  it("a job of POST /jobs has an image", async () => {
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url: GREEN } }] }];
    const input = { messages, ...sampling };
    const { data } = (await call(network.url, key, "POST", "/jobs", { workload: model, input })).body;
    const { body } = await call(network.url, key, "GET", `/jobs/${data.id}?wait=30`);
    expect(body.data).toMatchObject({ status: "completed", output: OF_GREEN });
  });

  it("a Cargo without a projector refuses an image, with its name and what to do", async () => {
    const messages = [{ role: "user" as const, content: [{ type: "image_url" as const, image_url: { url: RED } }] }];
    await expect(openai.chat.completions.create({ model: "tiny-chat", messages })).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/the Cargo "tiny-chat" reads only text\. Remove the image, or choose/) as string,
    });
  });

  it("chats without images run, too", async () => {
    const messages = [{ role: "user" as const, content: "Count from 3 to 9." }];
    const { choices } = await openai.chat.completions.create({ model, messages, temperature: 0 });
    expect(choices[0]?.message.content).toBe("3, 4, 5, 6, 7, 8, 9.");
  });
}

describe("with a llama-server that a command of the owner starts", () => {
  describeImages(() => openNetwork({ "engines.command": COMMAND }));
});

describe("with a llama-server that the owner runs", () => {
  let engine: LlamaServer;
  beforeAll(async () => {
    engine = await LlamaServer.start({ projector });
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  describeImages(async () => {
    const network = await openNetwork({ "engines.urls": engine.url, "cargos.allow_runtimes": "engine" });
    const isReady = async (): Promise<string | undefined> =>
      (await network.islandStatus<AgentStatus>("island")).engines?.[0]?.state;
    await until(isReady, (state) => state === "ready", "the engine is ready");
    return network;
  });
});

describe("an Island without engines.command", () => {
  it("runs chats of a Cargo with a projector, except those with images, which wait", async () => {
    await using network = await openNetwork({});
    const { key } = network.createAccount("client@example.com");
    const submit = async (input: object): Promise<string> =>
      (await call(network.url, key, "POST", "/jobs", { workload: model, input })).body.data.id;
    const jobOf = async (id: string, wait: number): Promise<unknown> =>
      (await call(network.url, key, "GET", `/jobs/${id}?wait=${wait}`)).body.data;
    const text = await submit({ prompt: "Count from 3 to 9.", temperature: 0 });
    expect(await jobOf(text, 30)).toMatchObject({ status: "completed", output: "3, 4, 5, 6, 7, 8, 9." });
    const content = [{ type: "image_url", image_url: { url: RED } }];
    const image = await submit({ messages: [{ role: "user", content }] });
    expect(await jobOf(image, 1)).toMatchObject({ status: "pending", waiting: { reason: "no_island_fits" } });
  });
});

import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import OpenAI, { toFile, toStreamingFile } from "openai";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Network } from "../support/network/network.ts";
import { WebhookReceiver } from "../support/servers/webhook-receiver.ts";

/** Model of the README's examples. The operator's alias maps it to tiny-chat. */
const MODEL = "gpt-5.5";
const ALIASES = `${MODEL}=tiny-chat,gpt-4o=tiny-chat,gpt-5.2=tiny-chat`;
const ROOT = join(import.meta.dirname, "..", "..");
const HEADING = /^#+ (.*)$/;

let network: Network;
let client: OpenAI;
let options: { apiKey: string; baseURL: string };

beforeAll(async () => {
  network = await Network.open([], { ATOLL_MODEL_ALIASES: ALIASES, ATOLL_WEBHOOK_ALLOW_PRIVATE: "true" });
  const { key, islandToken } = network.createAccount("readme@example.com");
  await network.startIsland("island", islandToken);
  options = { apiKey: key, baseURL: `${network.url}/v1` };
  client = new OpenAI(options);
});
afterAll(() => network[Symbol.asyncDispose]());

/** Examples of the README by heading. A table in test/clients/README.md lists the other headings with reasons. */
const EXAMPLES: Readonly<Record<string, () => Promise<void>>> = {
  async Usage() {
    const response = await client.responses.create({
      model: MODEL,
      instructions: "You are a coding assistant that talks like a pirate",
      input: "Are semicolons optional in JavaScript?",
    });
    expect(response.output_text).not.toBe("");
  },

  async "Multi-turn conversations"() {
    const completion = await client.chat.completions.create({
      model: MODEL,
      messages: [
        { role: "developer", content: "Talk like a pirate." },
        { role: "user", content: "Are semicolons optional in JavaScript?" },
      ],
    });
    expect(completion.choices[0]?.message.content).not.toBe("");
  },

  async "Streaming responses"() {
    const stream = await client.responses.create({
      model: MODEL,
      input: 'Say "Sheep sleep deep" ten times fast!',
      stream: true,
    });
    const types = [];
    for await (const event of stream) types.push(event.type);
    expect([types[0], types.at(-1)]).toEqual(["response.created", "response.completed"]);
  },

  async "File uploads"() {
    const path = join(network.directory, "input.jsonl");
    writeFileSync(path, "my bytes");
    await using server = await serveText("my bytes");
    const fetched = await fetch(`${server.url}/input.jsonl`);
    // A coordinator in this process replaces the global Response with its server's class, so the client would not
    // recognize this one.
    vi.stubGlobal("Response", fetched.constructor);
    onTestFinished(() => void vi.unstubAllGlobals());
    const files = [
      createReadStream(path),
      new File(["my bytes"], "input.jsonl"),
      fetched,
      await toFile(Buffer.from("my bytes"), "input.jsonl"),
      await toFile(new Uint8Array([0, 1, 2]), "input.jsonl"),
      toStreamingFile(Readable.from([Buffer.from("my bytes")]), "input.jsonl", { type: "application/jsonl" }),
    ];
    for (const file of files) {
      // oxlint-disable-next-line no-await-in-loop -- as in the README
      const made = await client.files.create({ file, purpose: "fine-tune" });
      expect(made).toMatchObject({ object: "file", filename: "input.jsonl", purpose: "fine-tune" });
    }
  },

  async "Parsing webhook payloads"() {
    const { text, headers, secret } = await webhookOf();
    const webhooks = new OpenAI({ ...options, webhookSecret: secret }).webhooks;
    const event: { type: string } = await webhooks.unwrap(text, headers);
    expect(event.type).toBe("job.completed");
    await expect(webhooks.unwrap(`${text} `, headers)).rejects.toBeInstanceOf(OpenAI.InvalidWebhookSignatureError);
  },

  async "Verifying webhook payloads directly"() {
    const { text, headers, secret } = await webhookOf();
    await new OpenAI({ ...options, webhookSecret: secret }).webhooks.verifySignature(text, headers);
  },

  async "Handling errors"() {
    const error: unknown = await client.fineTuning.jobs
      .create({ model: "gpt-4o", training_file: "file-abc123" })
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof OpenAI.APIError)) throw new Error("not an APIError");
    expect(error.requestID).toMatch(/^[\w-]{20,}$/);
    // OpenAI returns 400. Atoll does not fine-tune models.
    expect([error.status, error instanceof OpenAI.NotFoundError]).toEqual([404, true]);
    expect(error.headers?.get("content-type")).toContain("application/json");
  },

  async Retries() {
    const once = new OpenAI({ ...options, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "How can I get the name of the current day in JavaScript?" }];
    const { choices } = await once.chat.completions.create({ messages, model: MODEL }, { maxRetries: 5 });
    expect(choices).toHaveLength(1);
  },

  async Timeouts() {
    const messages = [{ role: "user" as const, content: "How can I list all files in a directory using Python?" }];
    const pending = client.chat.completions.create({ messages, model: MODEL }, { timeout: 1, maxRetries: 0 });
    await expect(pending).rejects.toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
  },

  async "Request IDs"() {
    const response = await client.responses.create({ model: MODEL, input: "testing 123" });
    expect(response._request_id).toMatch(/^[\w-]{20,}$/);
    const { data: stream, request_id: id } = await client.responses
      .create({ model: MODEL, input: "Say this is a test", stream: true })
      .withResponse();
    expect(id).toMatch(/^[\w-]{20,}$/);
    for await (const event of stream) expect(event.type).toMatch(/^response\./);
  },

  /** Lists files, because Atoll does not fine-tune models. */
  async "Auto-pagination"() {
    const names = ["a", "b", "c"].map((name) => `${name}.txt`);
    await Promise.all(
      names.map(async (name) => client.files.create({ file: await toFile(Buffer.from("x"), name), purpose: "evals" })),
    );
    const found: string[] = [];
    for await (const { filename } of client.files.list({ limit: 2, purpose: "evals" })) found.push(filename);
    expect(found.toSorted()).toEqual(names);
    let page = await client.files.list({ limit: 2, purpose: "evals" });
    expect([page.data.length, page.hasNextPage()]).toEqual([2, true]);
    page = await page.getNextPage();
    expect([page.data.length, page.hasNextPage()]).toEqual([1, false]);
  },

  async "Accessing raw Response data (e.g., headers)"() {
    const body = { model: MODEL, input: "say this is a test." };
    const raw = await client.responses.create(body).asResponse();
    expect([raw.status, raw.headers.get("X-Request-Id")]).toEqual([200, expect.stringMatching(/^[\w-]{20,}$/)]);
    await raw.text();
    const { data, response } = await client.responses.create(body).withResponse();
    expect([data.status, response.headers.get("content-type")]).toEqual(["completed", "application/json"]);
  },

  async "Undocumented endpoints"() {
    const listed = await client.get<{ data: unknown[] }>("/jobs", { query: { limit: 1 } });
    expect(listed.data).toHaveLength(1);
  },

  async "Customizing the fetch client"() {
    const seen: string[] = [];
    const own = (input: string | URL | Request, init?: RequestInit) => {
      seen.push(input instanceof Request ? input.url : String(input));
      return fetch(input, init);
    };
    await new OpenAI({ ...options, fetch: own }).models.list();
    expect(seen).toEqual([`${network.url}/v1/models`]);
  },

  async "Fetch options"() {
    const { data } = await new OpenAI({ ...options, fetchOptions: { cache: "no-store" } }).models.list();
    expect(data.find(({ id }) => id === MODEL)).toMatchObject({ alias_of: "tiny-chat" });
  },

  async "Log levels"() {
    await logged();
  },

  async "Custom logger"() {
    expect((await logged()).join("\n")).toContain("/v1/models");
  },
};

describe("the README of the openai client", () => {
  it.each(Object.entries(EXAMPLES))("%s", (_, example) => example());

  it("has only examples that are tested here or listed in test/clients/README.md", () => {
    const readme = readFileSync(join(ROOT, "node_modules", "openai", "README.md"), "utf8");
    const shown = new Set<string>();
    let heading = "";
    for (const line of readme.split("\n")) {
      heading = HEADING.exec(line)?.[1] ?? heading;
      if (/^\s*```(?:ts|js)\b/.test(line)) shown.add(heading);
    }
    const [, section = ""] = readFileSync(join(import.meta.dirname, "README.md"), "utf8").split(
      "\n## README of `openai`",
    );
    const [table = ""] = section.split("\n#");
    const excepted = [...table.matchAll(/^\| (.+?) \| (?!---|Reason)/gm)].map(([, name]) => name ?? "");
    expect(excepted.filter((name) => name in EXAMPLES)).toEqual([]);
    expect([...excepted, ...Object.keys(EXAMPLES)].toSorted()).toEqual([...shown].toSorted());
  });

  it("Vision is rejected by name, because the Cargo reads only text", async () => {
    const content = [
      { type: "input_text" as const, text: "What is in this image?" },
      { type: "input_image" as const, detail: "auto" as const, image_url: "https://example.com/default.jpg" },
    ];
    const pending = client.responses.create({ model: MODEL, input: [{ role: "user", content }] });
    await expect(pending).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("reads only text") as string,
    });
  });

  it("Undocumented request params are rejected by name", async () => {
    const body = { model: MODEL, messages: [{ role: "user" as const, content: "Hi" }], baz: "undocumented option" };
    await expect(client.chat.completions.create(body)).rejects.toMatchObject({ status: 400, param: "baz" });
  });
});

/** Returns the log of a client with a custom logger for a request. */
async function logged(): Promise<string[]> {
  const lines: string[] = [];
  const add = (...parts: unknown[]): void => void lines.push(parts.map((part) => JSON.stringify(part)).join(" "));
  const logger = { debug: add, info: add, warn: add, error: add };
  await new OpenAI({ ...options, logger, logLevel: "debug" }).models.list();
  expect(lines.join("\n")).not.toContain(options.apiKey);
  return lines;
}

/** Returns a webhook of an ended job. */
async function webhookOf() {
  await using receiver = await WebhookReceiver.start();
  const body = { workload: "tiny-chat", input: { prompt: "Hi", max_tokens: 1 }, webhook_url: receiver.url };
  const { data } = await client.post<{ data: { webhook_secret: string } }>("/jobs", { body });
  const { text, headers } = await receiver.next();
  return { text, headers, secret: data.webhook_secret };
}

async function serveText(text: string) {
  const server = createServer((_, response) => void response.end(text)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

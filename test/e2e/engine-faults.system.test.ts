import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { systemClock } from "../../shared/clock.ts";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { LlamaServer } from "../support/servers/llama-server.ts";
import type { NewAccount } from "../support/store/account-rows.ts";

/** Completion without the token that ends it, to leave time for the fault. */
const LONG = {
  messages: [{ role: "user" as const, content: "Tell me a story." }],
  temperature: 0,
  logit_bias: { "2": -100 },
  max_tokens: 800,
};
const NAMES = ["first", "second"] as const;

let engines: readonly LlamaServer[];
let network: Network;
let account: NewAccount;

beforeAll(async () => {
  engines = await Promise.all(NAMES.map(() => LlamaServer.start()));
  network = await Network.open();
  account = network.createAccount("host@example.com");
  for (const [index, name] of NAMES.entries()) {
    const { islandToken } = account;
    const url = engines[index]?.url ?? "";
    await network.startIsland(name, islandToken, { "engines.urls": url, "cargos.allow_runtimes": "engine" });
    await until(
      () => stateOf(name),
      (state) => state === "ready",
      "the engine is ready",
    );
  }
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  for (const engine of engines) await engine[Symbol.asyncDispose]();
});

const status = (name: string): Promise<AgentStatus> => network.islandStatus<AgentStatus>(name);
const stateOf = async (name: string): Promise<string | undefined> => (await status(name)).engines?.[0]?.state;

/** Lets the engines work for a tenth of the time. @returns ends it. */
function slowDown(): () => Promise<void> {
  const stop = new AbortController();
  const work = (async () => {
    while (!stop.signal.aborted) {
      for (const engine of engines) engine.signal("SIGSTOP");
      await systemClock.sleep(27);
      for (const engine of engines) engine.signal("SIGCONT");
      await systemClock.sleep(3);
    }
  })();
  return () => {
    stop.abort();
    return work;
  };
}

const detail = async (jobId: string) => (await call(network.url, account.key, "GET", `/jobs/${jobId}`)).body.data;

describe("a network of Islands that lend engines", () => {
  it("gives no job to engines that their owners use fully, and gives it to them afterwards", async () => {
    const normal = slowDown();
    const owner = new AbortController();
    const request = { method: "POST", body: JSON.stringify(LONG), signal: owner.signal };
    const use = async (url: string): Promise<void> => {
      while (!owner.signal.aborted) await (await fetch(`${url}/v1/chat/completions`, request)).text();
    };
    // Two wait in the engine, so that no slot becomes free.
    const uses = engines.flatMap(({ url }) => Array.from({ length: 6 }, () => use(url)));
    const others = async (): Promise<(number | undefined)[]> =>
      Promise.all(NAMES.map(async (name) => (await status(name)).engines?.[0]?.othersRunning));
    await expect.poll(others).toEqual([4, 4]);
    // The Islands report it within half a second.
    await systemClock.sleep(1_000);
    const input = { prompt: "Count from 1 to 5.", temperature: 0 };
    const job = await call(network.url, account.key, "POST", "/jobs", { workload: "tiny-chat", input });
    const id = job.body.data.id as string;
    await systemClock.sleep(500);
    const during = (await detail(id)).status;
    owner.abort();
    await Promise.allSettled(uses);
    await normal();
    await expect.poll(async () => (await detail(id)).status).toBe("completed");
    expect([during, (await detail(id)).attempts]).toEqual(["pending", 1]);
  });

  it("continues on another Island the text of an engine that was killed in mid-stream", async () => {
    const client = new OpenAI({ apiKey: account.key, baseURL: `${network.url}/api/v1`, maxRetries: 0 });
    const normal = slowDown();
    // Only the stream of a chat delivers the first token at once.
    const stream = await client.chat.completions.create({ ...LONG, model: "tiny-chat", stream: true });
    let jobId = "";
    let text = "";
    let before = "";
    for await (const { id, choices } of stream) {
      text += choices[0]?.delta.content ?? "";
      if (text === "" || before !== "") continue;
      jobId = id;
      before = text;
      const running = await Promise.all(NAMES.map(async (name) => (await status(name)).running.length));
      engines[running.findIndex((count) => count > 0)]?.signal("SIGKILL");
      await normal();
    }
    expect(text.length).toBeGreaterThan(10 * before.length);
    expect(await detail(jobId)).toMatchObject({ status: "completed", output: text, attempts: 2 });
    expect((await detail(jobId)).usage).toMatchObject({ completion_tokens: 800 });
    const problems = () => Promise.all(NAMES.map(async (name) => (await status(name)).engines?.[0]?.problem));
    // The Island checks the engine again a second after it has failed.
    await expect.poll(problems, { timeout: 10_000 }).toContainEqual(expect.stringContaining("does not respond"));
  });
});

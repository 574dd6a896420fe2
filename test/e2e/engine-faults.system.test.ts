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
    const problems = await Promise.all(NAMES.map(async (name) => (await status(name)).engines?.[0]?.problem));
    expect(problems).toContainEqual(expect.stringContaining("does not respond"));
  });
});

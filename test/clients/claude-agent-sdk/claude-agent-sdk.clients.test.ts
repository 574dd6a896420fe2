import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query, type Options, type SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { collect } from "../../support/http/http.ts";
import { ClientNetwork } from "../support/client-network.ts";
import { callOnce, DEFAULT_TEXT } from "../support/scripted-island.ts";

const NOTE = "The tide turns at a quarter past nine.";

describe("Claude Agent SDK · messages", () => {
  let net: ClientNetwork;
  let home: string;
  beforeAll(async () => {
    net = await ClientNetwork.open();
    home = mkdtempSync(join(tmpdir(), "atoll-client-"));
    writeFileSync(join(home, "note.txt"), NOTE);
  });
  beforeEach(() => {
    net.recorder.clear();
    net.scripted.script(() => ({ text: DEFAULT_TEXT }));
  });
  afterAll(async () => {
    await net[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  function ask(options: Options = {}, key = net.key): Promise<SDKMessage[]> {
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      ANTHROPIC_BASE_URL: net.url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    };
    const common = { model: "scripted", cwd: home, env, allowedTools: ["Bash"], settingSources: [] };
    return collect(query({ prompt: "What is 7 plus 8?", options: { ...common, ...options } }));
  }
  const statuses = () => net.recorder.modelRequests.map(({ status }) => status);
  const resultOf = (messages: readonly SDKMessage[]) => messages.find(({ type }) => type === "result");

  it("chat", async () => {
    expect(resultOf(await ask())).toMatchObject({ subtype: "success", is_error: false, result: DEFAULT_TEXT });
  });

  it("streams a chat", async () => {
    const messages = await ask({ includePartialMessages: true });
    const deltas = messages.flatMap((message) => (message.type === "stream_event" ? [message.event] : []));
    const texts = deltas.flatMap((event) =>
      event.type === "content_block_delta" && event.delta.type === "text_delta" ? [event.delta.text] : [],
    );
    expect(texts.join("")).toBe(DEFAULT_TEXT);
  });

  it("tool loop", async () => {
    net.scripted.script(callOnce("Bash", { command: "cat note.txt", description: "Print the note" }));
    expect(resultOf(await ask())).toMatchObject({ is_error: false, result: DEFAULT_TEXT });
    expect(JSON.stringify(net.scripted.inputs.at(-1)?.messages)).toContain(NOTE);
  });

  it("structured output", async () => {
    const properties = { sum: { type: "integer" } };
    const schema = { type: "object", properties, required: ["sum"], additionalProperties: false };
    net.scripted.script(callOnce("StructuredOutput", { sum: 15 }));
    const result = resultOf(await ask({ outputFormat: { type: "json_schema", schema } }));
    expect(result).toMatchObject({ is_error: false, structured_output: { sum: 15 } });
  });

  it("abort", async () => {
    net.scripted.script(() => ({ hold: "The first part. " }));
    const abortController = new AbortController();
    const pending = ask({ abortController });
    await net.latestJobIs("running");
    abortController.abort();
    await expect(pending).rejects.toThrow(/abort/i);
    await net.latestJobIs("cancelled");
  });

  it("wrong key", async () => {
    await expect(ask({}, "ak_wrong")).rejects.toThrow(/401|API key/);
    expect(statuses()).toEqual([401]);
  });

  it("unknown model", async () => {
    await expect(ask({ model: "no-such-model" })).rejects.toThrow(/no-such-model/);
    // After a 404 the client retries without a stream.
    expect(statuses()).toEqual([404, 404]);
  });

  it("over the context", async () => {
    await expect(ask({ model: "tiny-chat" })).rejects.toThrow(/too long/i);
    expect(statuses()).toEqual([400]);
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { call, collect, jobEvents, textOf } from "../support/http/http.ts";
import { LONG_COMPLETION } from "../support/models/long-completion.ts";
import { Network } from "../support/network/network.ts";
import { requireDebian } from "../support/servers/require-debian.ts";
import { untilCancelled } from "./until-cancelled.ts";

requireDebian("curl", "curl");
const PROMPT = "Count from 3 to 9.";
const COUNTED = "3, 4, 5, 6, 7, 8, 9.";

let network: Network;
let key: string;
beforeAll(async () => {
  network = await Network.open();
  const account = network.createAccount("client@example.com");
  key = account.key;
  await network.startIsland("island", account.islandToken);
});
afterAll(() => network[Symbol.asyncDispose]());

const status = (): Promise<AgentStatus> => network.islandStatus<AgentStatus>("island");
const api = (method: string, path: string, body?: unknown) => call(network.url, key, method, path, body);

/** A curl process. */
function startCurl(...args: string[]) {
  const child = spawn("curl", [
    "--silent",
    "--show-error",
    "--no-buffer",
    "--header",
    `Authorization: Bearer ${key}`,
    ...args,
  ]);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, "close").then(() => text);
  return {
    child,
    ended,
    /** Resolves with the output so far once it matches. */
    async printed(pattern: RegExp): Promise<string> {
      while (!pattern.test(text)) await Promise.race([once(child.stdout, "data"), ended]);
      return text;
    },
  };
}

const chatBody = (body: object) =>
  JSON.stringify({ model: "tiny-chat", messages: [{ role: "user", content: PROMPT }], temperature: 0, ...body });

describe("plain curl -N", () => {
  it("streams a chat up to [DONE]", async () => {
    const curl = startCurl(`${network.url}/api/v1/chat/completions`, "--data", chatBody({ stream: true }));
    const text = await curl.ended;
    const lines = text.split("\n\n").filter((line) => line !== "" && !line.startsWith(":"));
    expect(lines.at(-1)).toBe("data: [DONE]");
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.replace(/^data: /, "")));
    expect(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("")).toBe(COUNTED);
  });

  it("gets the first words before the last are generated, and stops the Island when it ends", async () => {
    const before = await status();
    const messages = [{ role: "user", content: "Tell me a story." }];
    const body = chatBody({ messages, response_format: LONG_COMPLETION, max_tokens: 900, stream: true });
    const curl = startCurl(`${network.url}/api/v1/chat/completions`, "--data", body);
    const text = await curl.printed(/"content":"[^"]/);
    expect(text).not.toContain("[DONE]");
    curl.child.kill("SIGTERM");
    await curl.ended;
    expect((await untilCancelled(status, before)).counts.completed).toBe(before.counts.completed);
  });

  it("reads a job's events, and resumes after the last event", async () => {
    const { body } = await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: PROMPT, temperature: 0 } });
    const path = `${network.url}/api/v1/jobs/${body.data.id as string}/stream`;
    const whole = await startCurl(path).ended;
    expect(whole).toMatch(/event: done\ndata: .*"total_tokens":\d+/);
    const events = whole.trimEnd().split("\n\n");
    const seen = /^id: (.*)$/m.exec(events[3] ?? "")?.[1] ?? "";
    const rest = await startCurl(path, "--header", `Last-Event-ID: ${seen}`).ended;
    expect(rest.trimEnd().split("\n\n")).toEqual(events.slice(4));
  });

  it("posts to a conversation, streams the answer, and resumes its job", async () => {
    const conversations = `${network.url}/api/v1/conversations`;
    const { data } = JSON.parse(await startCurl(conversations, "--data", '{"model":"tiny-chat"}').ended);
    const posted = JSON.stringify({ content: PROMPT, temperature: 0, stream: true });
    const text = await startCurl(`${conversations}/${data.id}/messages`, "--data", posted).ended;
    const head = JSON.parse(/^event: message\ndata: (.*)$/m.exec(text)?.[1] ?? "");
    expect(textOf(await collect(jobEvents(network.url, key, head.job_id)))).toBe(COUNTED);
    const { data: shown } = JSON.parse(await startCurl(`${conversations}/${data.id}`).ended);
    expect(shown.messages).toMatchObject([
      { role: "user", content: PROMPT },
      { role: "assistant", content: COUNTED, status: "completed", job_id: head.job_id },
    ]);
  });

  it("shows the body of an error", async () => {
    const text = await startCurl(`${network.url}/api/v1/chat/completions`, "--data", "not json").ended;
    expect(JSON.parse(text).error).toMatchObject({ code: "invalid_json", type: "invalid_request_error", param: null });
  });
});

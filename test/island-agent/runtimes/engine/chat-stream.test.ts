import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readChatStream } from "../../../../island-agent/runtimes/engine/chat-stream.ts";
import type { RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import type { ToolUse } from "../../../../shared/chat-tools.ts";
import type { OutputItem } from "../../../../shared/output.ts";

const TOOLS: ToolUse = {
  tools: ["get_tide", "get_wind"].map((name) => ({ name, description: null, parameters: { type: "object" } })),
  isRequired: false,
  maxCalls: 2,
};

interface Read {
  readonly items: OutputItem[];
  readonly working: number;
  readonly result: RunResult;
}

interface Options {
  readonly type?: string;
  readonly reasons?: boolean;
  readonly stop?: readonly string[];
  readonly toolUse?: ToolUse;
  readonly encode?: (text: string) => Iterable<Uint8Array>;
}

/** Reads a response with this body. */
async function read(body: string, options: Options = {}): Promise<Read> {
  const { type = "text/event-stream", encode = (text) => [Buffer.from(text)], ...rest } = options;
  const response = Object.assign(Readable.from(encode(body), { objectMode: false }), {
    headers: { "content-type": type },
  });
  const items: OutputItem[] = [];
  let working = 0;
  const result = await readChatStream(response as unknown as IncomingMessage, {
    modelId: "m",
    reasons: false,
    stop: [],
    ...rest,
    onOutput: (item) => items.push(item),
    onWorking: () => (working += 1),
  });
  return { items, working, result };
}

const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
const delta = (part: object, finish: string | null = null, more: object = {}): string =>
  event({ model: "m", choices: [{ index: 0, delta: part, finish_reason: finish, ...more }] });
const END = delta({}, "stop") + event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } });
const DONE = "data: [DONE]\n\n";
const textOf = ({ items }: Read): string => items.map((item) => (item.type === "token" ? item.content : "")).join("");

describe("the stream of an engine's chat", () => {
  it("becomes tokens, a finish reason and usage", async () => {
    const { items, result } = await read(delta({ content: "Hi" }) + delta({ content: " there" }) + END + DONE);
    expect(items).toEqual([
      { type: "token", content: "Hi", count: 1 },
      { type: "token", content: " there", count: 1 },
    ]);
    expect(result).toEqual({ finishReason: "stop", usage: { promptTokens: 3, completionTokens: 2 } });
  });

  it.each([
    ["in packets of one byte", (text: string) => Array.from(Buffer.from(text), (byte) => Buffer.of(byte))],
    ["with lines that end in CR and LF", (text: string) => [Buffer.from(text.replaceAll("\n", "\r\n"))]],
    ["after a byte order mark", (text: string) => [Buffer.from(`\uFEFF${text}`)]],
    ["between comments and other fields", (text: string) => [Buffer.from(`: ping\nid: 1\nevent: x\n${text}`)]],
    ["without spaces after the colons", (text: string) => [Buffer.from(text.replaceAll("data: ", "data:"))]],
  ])("is read %s", async (_, encode) => {
    expect(textOf(await read(delta({ content: "Möwe 🌊" }) + END + DONE, { encode }))).toBe("Möwe 🌊");
  });

  it("may be a text completion", async () => {
    const body = event({ choices: [{ index: 0, text: "Hi", finish_reason: null }] }) + END;
    expect(textOf(await read(body))).toBe("Hi");
  });

  it("may be a whole response in JSON, although a stream was requested", async () => {
    const message = { role: "assistant", content: "Hi" };
    const body = { model: "m", choices: [{ index: 0, message, finish_reason: "length" }], usage: { prompt_tokens: 3 } };
    const response = await read(JSON.stringify(body), { type: "application/json; charset=utf-8" });
    expect([textOf(response), response.result]).toEqual([
      "Hi",
      { finishReason: "length", usage: { promptTokens: 3, completionTokens: 1 } },
    ]);
  });

  it.each([
    ["the engine", { usage: { prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 7 } } }, 7, undefined],
    [
      "llama-server",
      { usage: { prompt_tokens: 9 }, timings: { cache_n: 7, prompt_n: 2, prompt_ms: 1.5, predicted_ms: 20 } },
      7,
      { promptMs: 1.5, outputMs: 20 },
    ],
    ["no engine", { usage: { prompt_tokens: 9 }, timings: { prompt_ms: -1 } }, undefined, undefined],
  ])("has the cached tokens and the times that %s reports", async (_, last, cachedTokens, phases) => {
    const { result } = await read(delta({ content: "a" }) + delta({}, "stop") + event({ choices: [], ...last }));
    expect([result.usage.cachedTokens, result.phases]).toEqual([cachedTokens, phases]);
  });

  it("counts tokens if the engine sends no usage", async () => {
    const { result } = await read(delta({ content: "a" }) + delta({ content: "b" }, "stop"));
    expect(result.usage).toEqual({ promptTokens: 0, completionTokens: 2 });
  });

  it("contains only the first choice", async () => {
    const second = event({ choices: [{ index: 1, delta: { content: "no" }, finish_reason: null }] });
    expect(textOf(await read(delta({ content: "yes" }) + second + END))).toBe("yes");
  });

  it.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "stop"],
    ["eos", "stop"],
  ])("with the finish reason %s ends with %s", async (reason, finishReason) => {
    expect((await read(delta({ content: "a" }, reason))).result.finishReason).toBe(finishReason);
  });

  it.each(["abort", "error"])("with the finish reason %s is a failure of the engine", async (reason) => {
    await expect(read(delta({ content: "a" }, reason))).rejects.toMatchObject({ code: "runtime_unavailable" });
  });

  it("is not complete while the finish reason is the text null, as KoboldCpp sends it", async () => {
    await expect(read(delta({ content: "a" }, "null"))).rejects.toThrow("without a finish reason");
  });

  it.each([
    ["that stop", "stop_reason"],
    ["that SGLang stops", "matched_stop"],
  ])("names the stop sequence %s", async (_, member) => {
    const body = delta({ content: "a" }, "stop", { [member]: "END" });
    expect((await read(body, { stop: ["END"] })).result.stopSequence).toBe("END");
    expect((await read(body, { stop: ["other"] })).result.stopSequence).toBeUndefined();
  });

  it("delivers reasoning only for a Cargo that reasons", async () => {
    const body = delta({ reasoning_content: "hm" }) + delta({ reasoning: "so" }) + delta({ content: "a" }) + END;
    expect((await read(body, { reasons: true })).items.map(({ type }) => type)).toEqual([
      "reasoning",
      "reasoning",
      "token",
    ]);
    expect(await read(body)).toMatchObject({ items: [{ content: "a" }], working: 2 });
  });

  it("reports progress while the engine reads the prompt", async () => {
    const progress = event({ model: "m", choices: [], prompt_progress: { total: 10, processed: 5 } });
    expect((await read(progress + delta({ content: "a" }) + END)).working).toBe(1);
  });

  it("contains the probabilities of several tokens", async () => {
    const top = [
      { token: "a", logprob: -0.5 },
      { token: "b", logprob: -20_000 },
    ];
    const content = [
      { token: "a", logprob: 0.1, bytes: [97], top_logprobs: top },
      { token: "\uFFFD", logprob: null, bytes: [195] },
    ];
    const { items } = await read(delta({ content: "a" }, null, { logprobs: { content } }) + END);
    expect(items[0]).toMatchObject({
      logprobs: [
        { token: "a", logprob: 0, top: [{ logprob: -0.5 }, { logprob: -9_999 }] },
        { token: "\uFFFD", logprob: -9_999, bytes: [195], top: [] },
      ],
    });
  });

  it("leaves the connection open for further runs, and ends one on which the engine goes on", async () => {
    const body = new Readable({ read: () => undefined });
    body.push(delta({ content: "a" }) + END + DONE);
    const endless = Object.assign(body, { headers: {} }) as unknown as IncomingMessage;
    const options = { modelId: "m", reasons: false, stop: [], onOutput: () => undefined, onWorking: () => undefined };
    await readChatStream(endless, options);
    expect(endless.destroyed).toBe(false);
    endless.emit("data", "more");
    expect(endless.destroyed).toBe(true);
  });
});

describe("a broken stream", () => {
  it.each([
    ["an event is not JSON", "data: {\n\n", 30_000],
    ["an event has another form", event({ choices: 5 }), 30_000],
    ["it names another model", delta({ content: "a" }) + event({ model: "other", choices: [] }), 1_000],
    ["it ends without a finish reason", delta({ content: "a" }) + DONE, 1_000],
    ["it contains an error", event({ error: { message: "boom" } }), 0],
    ["it contains an error as text", event({ error: "boom" }), 0],
    ["the engine has too little memory", event({ error: { message: "CUDA error: out of memory" } }), 30_000],
    ["its usage is negative", event({ choices: [], usage: { prompt_tokens: -1 } }), 30_000],
    ["a line has no end", `data: ${"x".repeat(9_000_000)}`, 30_000],
  ])("is a failure of the engine if %s", async (_, body, pauseMs) => {
    await expect(read(body)).rejects.toMatchObject({ name: "JobFailure", retryable: true, pauseMs });
  });

  it("is a failure of the engine if the connection broke before it was read", async () => {
    const broken = Object.assign(new Readable({ read: () => undefined }), { headers: {} });
    broken.on("error", () => undefined).destroy(new Error("reset"));
    await new Promise((resolve) => broken.once("close", resolve));
    const options = { modelId: "m", reasons: false, stop: [], onOutput: () => undefined, onWorking: () => undefined };
    await expect(readChatStream(broken as unknown as IncomingMessage, options)).rejects.toMatchObject({
      code: "runtime_unavailable",
      pauseMs: 1_000,
    });
  });

  it("delivers nothing after a failure", async () => {
    const body = new Readable({ read: () => undefined });
    const response = Object.assign(body, { headers: {} }) as unknown as IncomingMessage;
    const items: OutputItem[] = [];
    const options = { modelId: "m", reasons: false, stop: [], onWorking: () => undefined };
    const failed = readChatStream(response, { ...options, onOutput: (item) => items.push(item) });
    response.emit("data", "data: {\n");
    response.emit("data", delta({ content: "a" }));
    await expect(failed).rejects.toThrow("an event is not JSON");
    expect([items, response.destroyed]).toEqual([[], true]);
  });

  it("is a failure of the engine if it is a page", async () => {
    await expect(read("<html>", { type: "text/html" })).rejects.toThrow("its content type is text/html");
  });
});

describe("tool calls of an engine", () => {
  const call = (part: object): string => delta({ tool_calls: [part] });
  const start = (index: number, id: string, name: string, args = ""): string =>
    call({ index, id, type: "function", function: { name, arguments: args } });

  it("are delivered in parts", async () => {
    const body =
      start(0, "c1", "get_tide", "{") + call({ index: 0, function: { arguments: "}" } }) + delta({}, "tool_calls");
    const { items, result } = await read(body, { toolUse: TOOLS });
    expect(items).toEqual([
      { type: "tool_call", index: 0, id: "c1", name: "get_tide", arguments: "{", count: 1 },
      { type: "tool_call", index: 0, arguments: "}", count: 1 },
    ]);
    expect(result.finishReason).toBe("tool_calls");
  });

  it("get an id if the engine sends none", async () => {
    const { items } = await read(call({ function: { name: "get_tide", arguments: "{}" } }) + END, { toolUse: TOOLS });
    expect(items[0]).toMatchObject({ id: expect.stringMatching(/^call_[0-9a-f]{32}$/) });
  });

  it("are several calls if the engine gives them the same index", async () => {
    const { items } = await read(start(0, "a", "get_tide", "{}") + start(0, "b", "get_wind", "{}") + END, {
      toolUse: TOOLS,
    });
    expect(items).toMatchObject([
      { index: 0, id: "a" },
      { index: 1, id: "b" },
    ]);
  });

  it("are limited to the calls that the request allows", async () => {
    const body =
      start(0, "a", "get_tide", "{}") +
      start(1, "b", "get_tide", "{}") +
      call({ index: 1, function: { arguments: "x" } });
    const { items, result } = await read(body + END, { toolUse: { ...TOOLS, maxCalls: 1 } });
    expect(items).toMatchObject([{ id: "a" }]);
    expect(result.finishReason).toBe("tool_calls");
  });

  it("ignore an empty name in a later part", async () => {
    const body = start(0, "a", "get_tide", "{") + call({ index: 0, function: { name: "", arguments: "}" } });
    expect((await read(body + END, { toolUse: TOOLS })).items).toHaveLength(2);
  });

  it("of a tool that was not offered are an invalid output, for which the engine is not paused", async () => {
    const failed = read(start(0, "a", "functions.get_tide"), { toolUse: TOOLS });
    await expect(failed).rejects.toMatchObject({ code: "invalid_output", retryable: true });
    await expect(failed).rejects.not.toHaveProperty("pauseMs");
  });

  it("come without text if one is required", async () => {
    const toolUse = { ...TOOLS, isRequired: true };
    const { items } = await read(delta({ content: "I call" }) + start(0, "a", "get_tide", "{}") + END, { toolUse });
    expect(items).toMatchObject([{ type: "tool_call" }]);
  });

  it("are an invalid output if one is required and none came", async () => {
    const failed = read(delta({ content: "no" }) + END, { toolUse: { ...TOOLS, isRequired: true } });
    await expect(failed).rejects.toMatchObject({ code: "invalid_output", retryable: true });
  });
});

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, jsonSchema, Output, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { call, collect } from "../support/http/http.ts";
import { LONG_COMPLETION_SCHEMA } from "../support/models/long-completion.ts";
import { Network } from "../support/network/network.ts";
import { describeOpenaiClient } from "./openai-client.cases.ts";
import { describeTextEndpoints } from "./text-endpoints.cases.ts";
import { untilCancelled } from "./until-cancelled.ts";

const PROMPT = "Count from 3 to 9.";
const COUNTED = "3, 4, 5, 6, 7, 8, 9.";
/** Prompt for a completion that is long enough to abort. */
const STORY = { prompt: "Tell me a story.", temperature: 1.8, seed: 3, maxOutputTokens: 900 };

let network: Network;
let key: string;
let atoll: ReturnType<typeof createOpenAICompatible>;

beforeAll(async () => {
  network = await Network.open();
  const account = network.createAccount("client@example.com");
  key = account.key;
  await network.startIsland("island", account.islandToken);
  atoll = createOpenAICompatible({
    name: "atoll",
    apiKey: key,
    baseURL: `${network.url}/api/v1`,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
});
afterAll(() => network[Symbol.asyncDispose]());

const status = (): Promise<AgentStatus> => network.islandStatus<AgentStatus>("island");
const api = (method: string, path: string, body?: unknown) => call(network.url, key, method, path, body);

describeOpenaiClient(() => network);
describeTextEndpoints(() => network);

const untilStopped = (before: AgentStatus): Promise<AgentStatus> => untilCancelled(status, before);

describe("ai with @ai-sdk/openai-compatible", () => {
  const tide = tool({
    inputSchema: jsonSchema<{ place: string }>({
      type: "object",
      properties: { place: { type: "string", enum: ["reef", "bay"] } },
      required: ["place"],
      additionalProperties: false,
    }),
    execute: ({ place }) => `low at the ${place}`,
  });
  const ask = { prompt: "How is the tide?", tools: { tide }, temperature: 0, maxRetries: 0 };

  it("generateText() calls a tool and gets its result", async () => {
    const generation = await generateText({
      ...ask,
      model: atoll("tiny-chat"),
      toolChoice: { type: "tool", toolName: "tide" },
    });
    expect(generation.finishReason).toBe("tool-calls");
    expect(generation.toolCalls.length).toBeGreaterThan(0);
    for (const { output } of generation.toolResults) expect(output).toMatch(/^low at the (reef|bay)$/);
    expect(generation.toolResults).toHaveLength(generation.toolCalls.length);
  });

  it("streamText() gets the arguments of a tool call in parts", async () => {
    const { fullStream } = streamText({ ...ask, model: atoll("tiny-chat"), toolChoice: "required" });
    const kinds: string[] = [];
    for await (const { type } of fullStream) kinds.push(type);
    expect(kinds.filter((kind) => kind === "tool-input-delta").length).toBeGreaterThan(2);
    expect(kinds).toContain("tool-result");
    expect(kinds).not.toContain("error");
  });

  it("generateText() gets the text, the finish reason and the usage", async () => {
    const { text, finishReason, usage } = await generateText({
      model: atoll("tiny-chat"),
      prompt: PROMPT,
      temperature: 0,
    });
    expect([text, finishReason]).toEqual([COUNTED, "stop"]);
    expect(usage.inputTokens).toBeGreaterThan(5);
    expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  });

  it("streamText() gets the same text in pieces, with finish reason and usage at the end", async () => {
    const result = streamText({ model: atoll("tiny-chat"), prompt: PROMPT, temperature: 0 });
    const pieces = await collect(result.textStream);
    expect(pieces.join("")).toBe(COUNTED);
    expect(pieces.length).toBeGreaterThan(5);
    expect(await result.finishReason).toBe("stop");
    expect((await result.usage).outputTokens).toBeGreaterThan(10);
  });

  it("streamText() ends with length at the limit", async () => {
    const result = streamText({ model: atoll("tiny-chat"), prompt: PROMPT, maxOutputTokens: 3 });
    await result.consumeStream();
    expect([await result.finishReason, (await result.usage).outputTokens]).toEqual(["length", 3]);
  });

  it("generateObject() gets an object that matches its schema", async () => {
    const { object } = await generateObject({
      model: atoll("tiny-chat"),
      prompt: "Give me a boat.",
      temperature: 0,
      maxOutputTokens: 200,
      schema: jsonSchema<{ color: string; seats: number }>({
        type: "object",
        properties: { color: { enum: ["red", "blue"] }, seats: { enum: [2, 4] } },
        required: ["color", "seats"],
        additionalProperties: false,
      }),
    });
    expect(["red", "blue"]).toContain(object.color);
    expect([2, 4]).toContain(object.seats);
  });

  it("generateObject() gets an error for a schema without strict support, and does not retry", async () => {
    const before = await api("GET", "/jobs");
    const schema = jsonSchema({ type: "object", properties: { seats: { not: { const: 1 } } } });
    const generation = generateObject({ model: atoll("tiny-chat"), prompt: "Give me a boat.", schema });
    await expect(generation).rejects.toMatchObject({ statusCode: 422, message: expect.stringContaining('"not"') });
    const after = await api("GET", "/jobs");
    // The request is refused before it becomes a job.
    expect(after.body.meta.total).toBe(before.body.meta.total);
  });

  it("throws APICallError with the status and the message of an error", async () => {
    const generation = generateText({ model: atoll("gpt-17"), prompt: "Hi", maxRetries: 0 }).catch(
      (error: unknown) => error,
    );
    const error = await generation;
    expect(APICallError.isInstance(error)).toBe(true);
    const message = expect.stringContaining('There is no model "gpt-17"');
    expect(error).toMatchObject({ statusCode: 404, message, isRetryable: false });
  });

  it("gets an error for a prompt that exceeds the context", async () => {
    const generation = generateText({ model: atoll("tiny-chat"), prompt: "word ".repeat(4_000), maxRetries: 0 });
    await expect(generation).rejects.toMatchObject({ statusCode: 422, isRetryable: false });
  });

  // On a busy machine the model may finish before the abort arrives.
  it("aborts mid-stream, and the Island stops", { retry: 2 }, async () => {
    const before = await status();
    const leave = new AbortController();
    const output = Output.object({ schema: jsonSchema(LONG_COMPLETION_SCHEMA) });
    const result = streamText({ model: atoll("tiny-chat"), ...STORY, output, abortSignal: leave.signal });
    const parts: string[] = [];
    for await (const part of result.fullStream) {
      parts.push(part.type);
      if (part.type === "text-delta") leave.abort();
    }
    expect(parts).toContain("abort");
    expect((await untilStopped(before)).counts.completed).toBe(before.counts.completed);
  });
});

describe("a long conversation with a real model", () => {
  it("continues when its history exceeds the context, which only the model can count", async () => {
    const { body } = await api("POST", "/conversations", { model: "tiny-chat", system_prompt: "Be brief." });
    const path = `/conversations/${body.data.id as string}`;
    // Each digit is a token, so the history has three times as many tokens as its bytes suggest.
    const long = "7 8 9 1 2 3 4 5 6 0 ".repeat(18);
    for (let round = 0; round < 5; round += 1) {
      const response = await api("POST", `${path}/messages`, {
        content: `${long}${round}`,
        temperature: 0,
        max_tokens: 8,
      });
      expect([round, response.status]).toEqual([round, 200]);
    }
    const jobs = await api("GET", "/jobs?limit=100&status=failed");
    expect(jobs.body.meta.total).toBeGreaterThan(0);
    expect((await api("GET", path)).body.meta.total).toBe(10);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InMemoryCache } from "@langchain/core/caches";
import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, type ChatOpenAIFields, OpenAIEmbeddings } from "@langchain/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { call, collect, until } from "../support/http/http.ts";
import { LONG_COMPLETION } from "../support/models/long-completion.ts";
import { Network } from "../support/network/network.ts";
import { makeCatalog } from "../support/small-catalog.ts";

const DOCUMENT = join(import.meta.dirname, "README.md");
const ALIASES = "gpt-4o-mini=tiny-chat,text-embedding-3-small=tiny-embed";
const HELLO = "Hello! I am happy to meet you. What shall we talk about?";
const COUNT = "Count from 3 to 9.";
const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };

let network: Network;
let apiKey: string;

beforeAll(async () => {
  const catalog = makeCatalog(["tiny-chat", "tiny-embed"]);
  network = await Network.open(["--catalog-directory", catalog], { ATOLL_MODEL_ALIASES: ALIASES });
  const { key, islandToken } = network.createAccount("langchain@example.com");
  apiKey = key;
  await network.startIsland("island", islandToken, { "cargos.allow_runtimes": "llmcpp,onnx" });
});
afterAll(() => network[Symbol.asyncDispose]());

const Sum = z.object({ a: z.int().describe("The first integer"), b: z.int() }).describe("Add two integers");
const adder = tool(({ a, b }) => `${a + b}`, { name: "AdderTool", description: "Add two integers", schema: Sum });
/** Uses an enum where LangChain's test uses free text, because tiny-chat does not end a free text. */
const Place = z.object({ location: z.enum(["San Francisco", "Lagos"]) });
const weather = tool(() => "70 degrees and sunny", { name: "get_current_weather", schema: Place });
const clock = tool(() => "12:02", { name: "get_current_time", schema: Place });
const SUM_PROMPT = ChatPromptTemplate.fromMessages([
  ["system", "You are bad at math and must ALWAYS call the {toolName} function."],
  ["human", "What is the sum of 1836281973 and 19973286?"],
]);
const WEATHER_PROMPT = new HumanMessage("What's the weather like in San Francisco right now?");

type Make = (fields?: ChatOpenAIFields) => ChatOpenAI;
const isSum = { a: expect.any(Number), b: expect.any(Number) };
const joined = (chunks: AIMessageChunk[]): AIMessageChunk => chunks.reduce((all, chunk) => all.concat(chunk));

function expectCall({ tool_calls: calls }: AIMessage, name: string, args: object): void {
  expect(calls).toEqual([{ name, args, id: expect.stringMatching(/^call_/), type: "tool_call" }]);
}
function expectUsage({ usage_metadata: usage }: { usage_metadata?: UsageMetadata | undefined }): void {
  expect(usage?.input_tokens).toBeGreaterThan(0);
  expect(usage?.output_tokens).toBeGreaterThan(0);
  expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
}
/** A question, a tool call and its result. */
const called = (content: AIMessage["content"] = "") => [
  new HumanMessage("What is 1 + 2"),
  new AIMessage({
    content,
    tool_calls: [{ name: "AdderTool", args: { a: 1, b: 2 }, id: "abc123", type: "tool_call" }],
  }),
  new ToolMessage("3", "abc123", "AdderTool"),
];
async function expectStepsOfTool(invoke: (messages: (HumanMessage | AIMessage | ToolMessage)[]) => Promise<AIMessage>) {
  const toolCall = await invoke([WEATHER_PROMPT]);
  expectCall(toolCall, "get_current_weather", { location: expect.any(String) });
  const message = await invoke([
    WEATHER_PROMPT,
    toolCall,
    new ToolMessage("Sunny.", toolCall.tool_calls?.[0]?.id ?? ""),
  ]);
  expect(message.text).not.toBe("");
}

/** Checks of LangChain's `ChatModelIntegrationTests`, by the names of their tests. */
const STANDARD: Readonly<Record<string, (make: Make) => Promise<void>>> = {
  async testInvoke(make) {
    const message = await make().invoke("Hello");
    expect(message).toBeInstanceOf(AIMessage);
    expect(message.text).toBe(HELLO);
  },
  async testStream(make) {
    const chunks = await collect(await make().stream("Hello"));
    expect(chunks.every((chunk) => AIMessageChunk.isInstance(chunk))).toBe(true);
    expect([chunks.length > 5, joined(chunks).text]).toEqual([true, HELLO]);
  },
  async testBatch(make) {
    const messages = await make().batch(["Hello", COUNT]);
    expect(messages.map(({ text }) => text)).toEqual([HELLO, "3, 4, 5, 6, 7, 8, 9."]);
  },
  async testStreamEvents(make) {
    const events = await collect(make().streamEvents("Hello", { version: "v2" }));
    const kinds = events.map(({ event }) => event.replace("on_chat_model_", ""));
    expect([kinds[0], kinds[Math.floor(kinds.length / 2)], kinds.at(-1)]).toEqual(["start", "stream", "end"]);
    expect(events.at(-1)?.data.output.text).toBe(HELLO);
  },
  async testConversation(make) {
    const { text } = await make().invoke([new HumanMessage("hello"), new AIMessage("hello"), new HumanMessage("hi")]);
    expect(text).not.toBe("");
  },
  async testDoubleMessageConversation(make) {
    const kinds = [SystemMessage, SystemMessage, HumanMessage, HumanMessage, AIMessage, AIMessage, HumanMessage];
    const { text } = await make().invoke(kinds.map((Kind) => new Kind("hello")));
    expect(text).not.toBe("");
  },
  async testUsageMetadata(make) {
    const message = await make().invoke("Hello");
    expectUsage(message);
    expect(message.response_metadata["model_name"]).toBe("tiny-chat");
  },
  async testUsageMetadataStreaming(make) {
    expectUsage(joined(await collect(await make().stream("Hello"))));
  },
  async testStopSequence(make) {
    const messages = [await make().invoke(COUNT, { stop: ["6"] }), await make({ stop: ["6"] }).invoke(COUNT)];
    // LangChain sends no `stop` with the Responses API, which does not support it.
    const expected = make().useResponsesApi ? "3, 4, 5, 6, 7, 8, 9." : "3, 4, 5, ";
    expect(messages.map(({ text }) => text)).toEqual([expected, expected]);
  },
  async testToolCalling(make) {
    const model = make().bindTools([adder], { tool_choice: "AdderTool" });
    expectCall(await model.invoke("What is the value of adderTool(1, 2)? Use the tool."), "AdderTool", isSum);
    expectCall(await model.invoke("Hello"), "AdderTool", isSum);
  },
  async testBindToolsWithRunnableToolLike(make) {
    const like = RunnableLambda.from(() => "").asTool({ name: "math_addition", description: "Add", schema: Sum });
    const model = make().bindTools([like], { tool_choice: "math_addition" });
    expectCall(await SUM_PROMPT.pipe(model).invoke({ toolName: "math_addition" }), "math_addition", isSum);
  },
  async testBindToolsWithOpenAIFormattedTools(make) {
    const parameters = z.toJSONSchema(Sum);
    const tools = [{ type: "function" as const, function: { name: "math_addition", description: "Add", parameters } }];
    const model = make().bindTools(tools, { tool_choice: "math_addition" });
    expectCall(await SUM_PROMPT.pipe(model).invoke({ toolName: "math_addition" }), "math_addition", isSum);
  },
  async testToolMessageHistoriesStringContent(make) {
    expect((await make().bindTools([adder]).invoke(called())).text).not.toBe("");
  },
  async testToolMessageHistoriesListContent(make) {
    const use = { type: "tool_use", id: "abc123", name: "AdderTool", input: { a: 1, b: 2 } };
    const messages = called([{ type: "text", text: "some text" }, use]);
    expect((await make().bindTools([adder]).invoke(messages)).text).not.toBe("");
  },
  async testStructuredFewShotExamples(make) {
    const messages = [...called(), new AIMessage("3"), new HumanMessage("What is 3 + 4")];
    expect((await make().bindTools([adder]).invoke(messages)).text).not.toBe("");
  },
  async testWithStructuredOutput(make) {
    for (const method of ["functionCalling", "jsonSchema"] as const) {
      for (const schema of [Sum, z.toJSONSchema(Sum)]) {
        const model = make().withStructuredOutput(schema, { name: "math_addition", method });
        // oxlint-disable-next-line no-await-in-loop -- one after the other is enough
        expect(await SUM_PROMPT.pipe(model).invoke({ toolName: "math_addition" })).toEqual(isSum);
      }
    }
  },
  async testWithStructuredOutputIncludeRaw(make) {
    const options = { name: "math_addition", method: "functionCalling", includeRaw: true } as const;
    const { raw, parsed } = await make().withStructuredOutput(Sum, options).invoke("Add.");
    expect(AIMessage.isInstance(raw)).toBe(true);
    expect(Sum.parse(parsed)).toEqual(parsed);
  },
  async testCacheComplexMessageTypes(make) {
    const model = make({ cache: new InMemoryCache() });
    const message = new HumanMessage({ content: [{ type: "text", text: "Hello there!" }] });
    const first = await model.invoke([message]);
    expect((await model.invoke([message])).id).toBe(first.id);
  },
  async testStreamTokensWithToolCalls(make) {
    const model = make().bindTools([adder], { tool_choice: "AdderTool" });
    const chunks = await collect(await SUM_PROMPT.pipe(model).stream({ toolName: "AdderTool" }));
    expect(chunks.filter((chunk) => chunk.tool_call_chunks?.length).length).toBeGreaterThan(2);
    expectCall(joined(chunks), "AdderTool", isSum);
    expectUsage(joined(chunks));
  },
  async testModelCanUseToolUseAIMessage(make) {
    await expectStepsOfTool((messages) => withWeather(make, messages.length === 1).invoke(messages));
  },
  async testModelCanUseToolUseAIMessageWithStreaming(make) {
    await expectStepsOfTool(async (messages) => {
      return joined(await collect(await withWeather(make, messages.length === 1).stream(messages)));
    });
  },
  async testInvokeMoreComplexTools(make) {
    const Complex = z.object({
      decision: z.enum(["UseAPI", "UseFallback"]),
      apiDetails: z.object({ serviceName: z.string().max(20), parameters: z.record(z.string(), z.unknown()) }),
    });
    const model = make({ maxTokens: 400 }).withStructuredOutput(Complex, { name: "service_tool" });
    const output = await model.invoke("I want to use the UseAPI because it's faster.");
    expect(Complex.parse(output)).toEqual(output);
  },
  async testParallelToolCalling(make) {
    // LangChain sends "required" with the Responses API only in this form.
    const model = make({ maxTokens: 300, modelKwargs: { tool_choice: "required" } }).bindTools([weather, clock]);
    const question = new HumanMessage("What's the weather and current time in San Francisco?");
    const responses = [await model.invoke([question]), joined(await collect(await model.stream([question])))];
    for (const { tool_calls: calls = [] } of responses) {
      expect(calls.length).toBeGreaterThan(1);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
      // The token limit may truncate the last call.
      for (const { name, args } of calls.slice(0, -1))
        expect([name, Place.parse(args)]).toEqual([expect.stringMatching(/^get_/), args]);
    }
    const results = (responses[0]?.tool_calls ?? []).map(({ id = "" }) => new ToolMessage("24 degrees", id));
    expect((await make().invoke([question, ...responses.slice(0, 1), ...results])).text).not.toBe("");
  },
  async testModelCanAcceptStructuredToolParamsSchema(make) {
    const params = { name: "get_current_weather", description: "The weather", schema: Place };
    const model = make().bindTools([params], { tool_choice: "get_current_weather" });
    expectCall(await model.invoke([WEATHER_PROMPT]), "get_current_weather", { location: expect.any(String) });
  },
  async testStreamTools(make) {
    const message = joined(await collect(await withWeather(make, true).stream([WEATHER_PROMPT])));
    expectCall(message, "get_current_weather", { location: expect.any(String) });
  },
  async testStandardTextContentBlocks(make) {
    const content = [{ type: "text" as const, text: "Hello" }];
    expect((await make().invoke([new HumanMessage({ contentBlocks: content })])).text).toBe(HELLO);
  },
};

const withWeather = (make: Make, isAsked: boolean) => {
  return make().bindTools([weather], { tool_choice: isAsked ? "get_current_weather" : "none" });
};

describe.each([
  ["chats", false],
  ["responses", true],
] as const)("ChatOpenAI of LangChain, by %s", (_, useResponsesApi) => {
  const make: Make = (fields = {}) => {
    const configuration = { baseURL: `${network.url}/v1` };
    const common = { model: "gpt-4o-mini", temperature: 0, maxTokens: 150, maxRetries: 0, apiKey, configuration };
    return new ChatOpenAI({ ...common, useResponsesApi, ...fields });
  };

  it.each(Object.keys(STANDARD))("%s", (name) => STANDARD[name]?.(make));

  it("calls a tool without arguments", async () => {
    const now = tool(() => "12:02", { name: "now", schema: z.object({}) });
    expectCall(await make().bindTools([now], { tool_choice: "now" }).invoke("What time is it?"), "now", {});
  });

  it("gets JSON in JSON mode", async () => {
    const output = await make().withStructuredOutput(z.looseObject({}), { method: "jsonMode" }).invoke("JSON, please.");
    expect(Object.keys(output).length).toBeGreaterThan(0);
  });

  it("gets a clear error for image input", async () => {
    const pending = make().invoke([new HumanMessage({ content: [{ type: "text", text: "What is it?" }, IMAGE] })]);
    await expect(pending).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/image/) });
  });

  it("recognizes the error for a prompt above the context", async () => {
    const pending = make().invoke("hello ".repeat(1_100));
    await expect(pending).rejects.toMatchObject({ name: "ContextOverflowError" });
  });

  it("cancels the work when its signal aborts", async () => {
    const abort = new AbortController();
    // On a busy machine the first completion of a new Island arrives in one piece.
    await make().invoke("Hello");
    // Such a completion takes a second or two.
    const modelKwargs = useResponsesApi
      ? { text: { format: { type: "json_schema", ...LONG_COMPLETION.json_schema } } }
      : { response_format: LONG_COMPLETION };
    const stream = await make({ maxTokens: 900, modelKwargs }).stream("Tell me a story.", { signal: abort.signal });
    const read = async (): Promise<void> => {
      for await (const _chunk of stream) abort.abort();
    };
    await expect(read()).rejects.toThrow(/abort/i);
    const last = () => call(network.url, apiKey, "GET", "/jobs?limit=1");
    await until(last, ({ body }) => body.data[0].status === "cancelled", "the job is cancelled");
  });
});

it("OpenAIEmbeddings gets a vector per text", async () => {
  const configuration = { baseURL: `${network.url}/v1` };
  const model = new OpenAIEmbeddings({ model: "text-embedding-3-small", maxRetries: 0, apiKey, configuration });
  const [one, two] = await model.embedDocuments(["the tide", "a boat"]);
  expect([one?.length, await model.embedQuery("the tide")]).toEqual([two?.length, one]);
});

it("test/clients/README.md has a row for each standard test", () => {
  const [, section = ""] = readFileSync(DOCUMENT, "utf8").split("\n## LangChain\n");
  const rows = section.split("\n## ")[0]?.matchAll(/^\| `(test\w+)` \| (passes|skipped)/gm) ?? [];
  const told = [...rows].map(([, name, result]) => [name, result]);
  expect(told.filter(([, result]) => result === "passes").map(([name]) => name)).toEqual(Object.keys(STANDARD));
});

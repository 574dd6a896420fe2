import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  cosineSimilarity,
  embedMany,
  experimental_generateSpeech as generateSpeech,
  experimental_transcribe as transcribe,
  generateImage,
  generateText,
  Output,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { collect } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { makeCatalog } from "../support/small-catalog.ts";

const SPOKEN = join(import.meta.dirname, "..", "fixtures", "spoken", "yes-no-stop.wav");
const ALIASES =
  "gpt-4o-mini=tiny-chat,text-embedding-3-small=tiny-embed,gpt-image-1=tiny-picture,whisper-1=tiny-speech";
const PROMPT = "Count from 3 to 9.";
const COUNTED = "3, 4, 5, 6, 7, 8, 9.";

let network: Network;
let openai: ReturnType<typeof createOpenAI>;
let compatible: ReturnType<typeof createOpenAICompatible>;

beforeAll(async () => {
  const catalog = makeCatalog(["tiny-chat", "tiny-embed", "tiny-picture", "tiny-speech"]);
  network = await Network.open(["--catalog-directory", catalog], { ATOLL_MODEL_ALIASES: ALIASES });
  const { key: apiKey, islandToken } = network.createAccount("ai@example.com");
  await network.startIsland("island", islandToken, { "cargos.allow_runtimes": "llmcpp,onnx,diffusers" });
  const baseURL = `${network.url}/v1`;
  openai = createOpenAI({ apiKey, baseURL });
  compatible = createOpenAICompatible({
    name: "atoll",
    apiKey,
    baseURL,
    supportsStructuredOutputs: true,
    includeUsage: true,
  });
});
afterAll(() => network[Symbol.asyncDispose]());

const tide = tool({
  description: "The tide at a place",
  inputSchema: z.object({ place: z.enum(["reef", "bay"]) }),
  execute: ({ place }) => `low at the ${place}`,
});
const Boat = z.object({
  color: z.enum(["red", "blue"]),
  seats: z.int().min(1).max(9),
  name: z.string().max(12).nullable(),
});
const quiet = { temperature: 0, maxRetries: 0 };

describe("the ai SDK", () => {
  describe.each([
    ["@ai-sdk/openai and responses", () => openai.responses("gpt-4o-mini")],
    ["@ai-sdk/openai and chats", () => openai.chat("gpt-4o-mini")],
    ["@ai-sdk/openai-compatible", () => compatible.chatModel("gpt-4o-mini")],
  ])("with %s", (_, model) => {
    it("generateText() gets text, finish reason and usage", async () => {
      const { text, finishReason, usage } = await generateText({ ...quiet, model: model(), prompt: PROMPT });
      expect([text, finishReason]).toEqual([COUNTED, "stop"]);
      expect(usage.inputTokens).toBeGreaterThan(5);
      expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
    });

    it("streamText() gets the same text in pieces, with usage", async () => {
      const result = streamText({ ...quiet, model: model(), prompt: PROMPT });
      const pieces = await collect(result.textStream);
      expect(pieces.join("")).toBe(COUNTED);
      expect(pieces.length).toBeGreaterThan(5);
      expect([await result.finishReason, (await result.usage).outputTokens]).toEqual(["stop", expect.any(Number)]);
    });

    it("generateText() calls a tool and continues with its result", async () => {
      const { steps, text } = await generateText({
        ...quiet,
        model: model(),
        prompt: "How is the tide?",
        tools: { tide },
        stopWhen: stepCountIs(2),
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "none" }),
      });
      expect(steps.map(({ finishReason }) => finishReason)[0]).toBe("tool-calls");
      expect(steps[0]?.toolResults[0]?.output).toMatch(/^low at the (reef|bay)$/);
      expect([steps.length, typeof text]).toEqual([2, "string"]);
    });

    it("streamText() gets a tool call in parts", async () => {
      const toolChoice = { type: "tool" as const, toolName: "tide" as const };
      const { fullStream } = streamText({ ...quiet, model: model(), prompt: "Tide?", tools: { tide }, toolChoice });
      const kinds = (await collect(fullStream)).map(({ type }) => type);
      expect(kinds.filter((kind) => kind === "tool-input-delta").length).toBeGreaterThan(1);
      expect(kinds).toContain("tool-result");
      expect(kinds).not.toContain("error");
    });

    it("gets an object of a zod schema, unstreamed and streamed", async () => {
      const options = { ...quiet, model: model(), prompt: "Give me a boat.", output: Output.object({ schema: Boat }) };
      const { output } = await generateText(options);
      expect(Boat.parse(output)).toEqual(output);
      expect(await streamText(options).output).toEqual(output);
    });

    it("gets a clear error for image input", async () => {
      const content = [{ type: "image" as const, image: Buffer.from("iVBORw0KGgo=", "base64") }];
      const pending = generateText({ ...quiet, model: model(), messages: [{ role: "user", content }] });
      await expect(pending).rejects.toMatchObject({ statusCode: 400, message: expect.stringMatching(/image/) });
    });
  });

  it("embedMany() gets a vector per text", async () => {
    for (const model of [openai.embedding("text-embedding-3-small"), compatible.embeddingModel("tiny-embed")]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other is enough
      const { embeddings, usage } = await embedMany({
        model,
        values: ["the tide", "the tide", "a boat"],
        maxRetries: 0,
      });
      const [a = [], b = [], c = []] = embeddings;
      expect(cosineSimilarity(a, b)).toBeCloseTo(1);
      expect(cosineSimilarity(a, c)).toBeLessThan(0.999);
      expect(usage.tokens).toBeGreaterThan(0);
    }
  });

  it("generateImage() gets an image", async () => {
    const model = compatible.imageModel("gpt-image-1");
    const { image } = await generateImage({ model, prompt: "a red circle on white", maxRetries: 0 });
    expect(image.mediaType).toBe("image/png");
  });

  it("transcribe() gets the text", async () => {
    const audio = readFileSync(SPOKEN);
    const { text } = await transcribe({ model: openai.transcription("whisper-1"), audio, maxRetries: 0 });
    expect(text).toBe("yes no stop");
  });

  it("generateSpeech() gets an error without a speech Cargo", async () => {
    const pending = generateSpeech({ model: openai.speech("tts-1"), text: "Hello", maxRetries: 0 });
    await expect(pending).rejects.toMatchObject({ statusCode: 404 });
  });
});

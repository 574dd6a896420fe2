import { Anthropic, AnthropicSession } from "@llamaindex/anthropic";
import { OpenAI, OpenAIEmbedding, OpenAIResponses } from "@llamaindex/openai";
import { LLMAgent, tool, type ToolCallLLM } from "llamaindex";
import { expect, it } from "vitest";
import { z } from "zod";
import { type Library, type Target, testLibrary } from "../support/library-tests.ts";

type LlmOf = (target: Target) => ToolCallLLM;

const APIS: Readonly<Record<string, LlmOf>> = {
  chat: ({ url, key: apiKey, model }) => new OpenAI({ apiKey, baseURL: `${url}/v1`, model }),
  responses: ({ url, key: apiKey, model }) => new OpenAIResponses({ apiKey, baseURL: `${url}/v1`, model }),
  messages: ({ url: baseURL, key: apiKey, model }) =>
    new Anthropic({ session: new AnthropicSession({ apiKey, baseURL }), model }),
};
const messagesOf = (content: string) => [{ role: "user" as const, content }];

function libraryOf(api: string, llmOf: LlmOf): Library {
  return {
    async chat(target, prompt) {
      const { message } = await llmOf(target).chat({ messages: messagesOf(prompt) });
      return { text: textOf(message.content) };
    },
    async stream(target, prompt, onText) {
      let text = "";
      for await (const { delta } of await llmOf(target).chat({ messages: messagesOf(prompt), stream: true })) {
        text += delta;
        if (delta !== "") onText();
      }
      return { text };
    },
    // LlamaIndex's agent treats the empty list of a response without tool calls as calls, and loops endlessly.
    ...(api !== "responses" && {
      async loop(target, prompt, { name, description, places, run }) {
        const parameters = z.object({ place: z.enum(places) });
        const tools = [tool(({ place }: { place: string }) => run(place), { name, description, parameters })];
        const { message } = await new LLMAgent({ llm: llmOf(target), tools }).chat({ message: prompt });
        return textOf(message.content);
      },
    }),
    ...(api === "chat" && {
      async object(target, prompt, colors) {
        const responseFormat = z.object({ color: z.enum(colors) });
        const { message } = await llmOf(target).chat({ messages: messagesOf(prompt), responseFormat });
        return JSON.parse(textOf(message.content)) as unknown;
      },
    }),
    // LlamaIndex accepts no abort signal, and leaving the loop does not end the request.
    cannotAbort: true,
    errors: {
      wrongKey: { status: 401, message: expect.stringMatching(/key/i) },
      unknownModel: { status: 404, message: expect.stringContaining("no-such-model") },
      overContext: { status: 400, message: expect.stringMatching(/context length|prompt is too long/) },
    },
  };
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
}

for (const [api, llmOf] of Object.entries(APIS))
  testLibrary(`LlamaIndex · ${api}`, libraryOf(api, llmOf), (net) => {
    it.runIf(api === "chat")("embeddings", async () => {
      await net().startEmbedder();
      const model = new OpenAIEmbedding({ apiKey: net().key, baseURL: `${net().url}/v1`, model: "tiny-embed" });
      expect((await model.getTextEmbeddings(["the tide", "a boat"])).map((vector) => vector.length)).toEqual([32, 32]);
    });
  });

import { ChatAnthropic } from "@langchain/anthropic";
import type { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { expect } from "vitest";
import { z } from "zod";
import { type Completion, type Library, type Target, testLibrary } from "../support/library-tests.ts";

const modelOf = ({ url, key, model }: Target) => new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url });

const library: Library = {
  async chat(target, prompt) {
    return completionOf(await modelOf(target).invoke(prompt));
  },
  async stream(target, prompt, onText, signal) {
    let all: AIMessageChunk | undefined;
    for await (const chunk of await modelOf(target).stream(prompt, { ...(signal && { signal }) })) {
      all = all?.concat(chunk) ?? chunk;
      if (chunk.text !== "") onText();
    }
    return completionOf(all);
  },
  async loop(target, prompt, { name, description, places, run }) {
    const schema = z.object({ place: z.enum(places) });
    const tools = [tool(({ place }) => run(place), { name, description, schema })];
    const { messages } = await createAgent({ model: modelOf(target), tools }).invoke({ messages: prompt });
    return messages.at(-1)?.text ?? "";
  },
  async object(target, prompt, colors) {
    return await modelOf(target)
      .withStructuredOutput(z.object({ color: z.enum(colors) }))
      .invoke(prompt);
  },
  errors: {
    wrongKey: { status: 401, lc_error_code: "MODEL_AUTHENTICATION", message: expect.stringMatching(/key/i) },
    unknownModel: { status: 404, lc_error_code: "MODEL_NOT_FOUND", message: expect.stringContaining("no-such-model") },
    overContext: { name: "ContextOverflowError" },
  },
};

function completionOf(message: AIMessage | AIMessageChunk | undefined): Completion {
  const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0 } = message?.usage_metadata ?? {};
  return { text: message?.text ?? "", inputTokens, outputTokens };
}

testLibrary("LangChain · messages", library);

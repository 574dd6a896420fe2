import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import { testLibrary, type Completion, type Library, type Target } from "../support/library-tests.ts";

/** These settings make the client send OpenRouter's own parameters. */
const SETTINGS = { reasoning: { effort: "high" }, usage: { include: true } } as const;

const modelOf = ({ url, key, model }: Target, settings = {}) =>
  createOpenRouter({ baseURL: `${url}/v1`, apiKey: key }).chat(model, settings);

const library: Library = {
  async chat(target, prompt) {
    const { text, usage } = await generateText({ model: modelOf(target), prompt });
    return completionOf(text, usage);
  },
  async stream(target, prompt, onText, abortSignal) {
    const result = streamText({
      model: modelOf(target, SETTINGS),
      prompt,
      onError: () => undefined,
      ...(abortSignal && { abortSignal }),
    });
    let text = "";
    for await (const piece of result.textStream) {
      text += piece;
      onText();
    }
    return completionOf(text, await result.usage);
  },
  async loop(target, prompt, { name, description, places, run }) {
    const inputSchema = z.object({ place: z.enum(places) });
    const tools = { [name]: tool({ description, inputSchema, execute: ({ place }) => run(place) }) };
    const { text } = await generateText({ model: modelOf(target), prompt, tools, stopWhen: isStepCount(3) });
    return text;
  },
  async object(target, prompt, colors) {
    const schema = z.object({ color: z.enum(colors) });
    const output = Output.object({ schema });
    return (await generateText({ model: modelOf(target), prompt, output })).output;
  },
  errors: {
    wrongKey: { name: "AI_APICallError", statusCode: 401, message: expect.stringMatching(/key/i) },
    unknownModel: { name: "AI_APICallError", statusCode: 404, message: expect.stringContaining("no-such-model") },
    overContext: { name: "AI_APICallError", statusCode: 400, message: expect.stringContaining("context length") },
  },
};

function completionOf(
  text: string,
  usage: { inputTokens: number | undefined; outputTokens: number | undefined },
): Completion {
  return { text, inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 };
}

testLibrary("OpenRouter provider · chat", library, (net) => {
  it("sends parameters of OpenRouter's API, which are ignored", async () => {
    const { url, key } = net();
    await generateText({ model: modelOf({ url, key, model: "scripted" }, SETTINGS), prompt: "Hello" });
    expect(net().recorder.requests.map(({ responseHeaders }) => responseHeaders["atoll-ignored"])).toEqual([
      "reasoning",
    ]);
  });
});

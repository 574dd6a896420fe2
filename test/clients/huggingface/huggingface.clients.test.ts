import { chatCompletion, chatCompletionStream } from "@huggingface/inference";
import { testLibrary, type Completion, type Library, type LibraryTool, type Target } from "../support/library-tests.ts";

type Message = Parameters<typeof chatCompletion>[0]["messages"][number];

const toTarget = ({ url, key, model }: Target) => ({ endpointUrl: `${url}/v1`, accessToken: key, model });
const ask = (prompt: string): { messages: Message[] } => ({ messages: [{ role: "user", content: prompt }] });

const library: Library = {
  async chat(target, prompt) {
    const { choices, usage } = await chatCompletion({ ...toTarget(target), ...ask(prompt) });
    return completionOf(choices[0]?.message.content ?? "", usage);
  },
  async stream(target, prompt, onText, signal) {
    let text = "";
    for await (const { choices } of chatCompletionStream(
      { ...toTarget(target), ...ask(prompt) },
      { ...(signal && { signal }) },
    )) {
      const piece = choices[0]?.delta.content ?? "";
      text += piece;
      if (piece !== "") onText();
    }
    return { text };
  },
  // The library does not run tools. This loop is from its documentation.
  async loop(target, prompt, tool) {
    const request = { ...toTarget(target), ...ask(prompt), tools: [toFunction(tool)] };
    const [call] = (await chatCompletion(request)).choices[0]?.message.tool_calls ?? [];
    if (call === undefined) return "no call";
    const { place } = JSON.parse(call.function.arguments) as { place: string };
    const called: Message = { role: "assistant", tool_calls: [call] };
    const result: Message = { role: "tool", content: tool.run(place), tool_call_id: call.id };
    const messages = [...request.messages, called, result];
    return (await chatCompletion({ ...request, messages })).choices[0]?.message.content ?? "";
  },
  async object(target, prompt, colors) {
    const schema = {
      type: "object",
      properties: { color: { enum: [...colors] } },
      required: ["color"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema" as const, json_schema: { name: "boat", strict: true, schema } };
    const { choices } = await chatCompletion({ ...toTarget(target), ...ask(prompt), response_format });
    return JSON.parse(choices[0]?.message.content ?? "");
  },
  errors: {
    wrongKey: { httpResponse: { status: 401 } },
    unknownModel: { httpResponse: { status: 404 } },
    overContext: { httpResponse: { status: 400 } },
  },
  limitError: { httpResponse: { status: 429 } },
};

function toFunction({ name, description, places }: LibraryTool) {
  const parameters = {
    type: "object",
    properties: { place: { enum: [...places] } },
    required: ["place"],
    additionalProperties: false,
  };
  return { type: "function" as const, function: { name, description, parameters } };
}

function completionOf(text: string, usage: { prompt_tokens: number; completion_tokens: number }): Completion {
  return { text, inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
}

testLibrary("Hugging Face Inference · chat", library);

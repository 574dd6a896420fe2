import { type ChatWrapper, JinjaTemplateChatWrapper, type LlamaModel } from "node-llama-cpp";
import type { ChatTool } from "../../../../shared/chat-tools.ts";
import { CALL_BEGIN } from "./tool-text.ts";

/** Returns the model's template, which renders tools as in its training. @throws if the file has none. */
export function toolTemplate({ fileInfo, tokenizer }: LlamaModel, tools: readonly ChatTool[]): ChatWrapper {
  const template = fileInfo.metadata.tokenizer.chat_template;
  if (template === undefined) throw new Error("The model has no chat template");
  const definitions = tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, ...(description === null ? {} : { description }), parameters },
  }));
  return new JinjaTemplateChatWrapper({
    template,
    tokenizer,
    // `ToolCallReader` reads the calls. To learn their format, the library would render the template many times.
    functionCallMessageTemplate: "noJinja",
    additionalRenderParameters: { tools: definitions },
  });
}

const PROBE: ChatTool = { name: "atoll_probe", description: null, parameters: { type: "object", properties: {} } };

/** Returns whether the model's template renders tools and requests calls in the format of Hermes and Qwen. */
export function rendersTools(model: LlamaModel): boolean {
  try {
    const chatHistory = [
      { type: "user" as const, text: "Hi" },
      { type: "model" as const, response: [] },
    ];
    const text = toolTemplate(model, [PROBE]).generateContextState({ chatHistory }).contextText.toString();
    return text.includes(PROBE.name) && text.includes(CALL_BEGIN);
  } catch {
    return false;
  }
}

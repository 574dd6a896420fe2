import type { LlamaModel, Token } from "node-llama-cpp";
import type { ChatMessage, ChatRequest } from "../../../../shared/chat-input.ts";
import type { ToolUse } from "../../../../shared/chat-tools.ts";

/** Marks around the JSON of a call, as Hermes and Qwen models write it. */
export const CALL_BEGIN = "<tool_call>";
export const CALL_END = "</tool_call>";
const RESULT_BEGIN = "<tool_response>";
const RESULT_END = "</tool_response>";

/** Returns the tokens of these marks if the model has them as control tokens, whose text is not shown. */
export function hiddenMarks(model: LlamaModel): ReadonlySet<Token> {
  const hidden = [CALL_BEGIN, CALL_END].map((mark) => model.tokenize(mark, true));
  return new Set(hidden.flatMap((tokens) => (model.detokenize(tokens) === "" ? tokens : [])));
}

/** Returns a request's messages as text: tools go into the system message, tool calls and results into the others. */
export function messagesWithTools({ messages, toolUse }: Pick<ChatRequest, "messages" | "toolUse">): ChatMessage[] {
  const texts: ChatMessage[] = [];
  for (const message of messages) {
    const { role, content } = message;
    if (role !== "tool") {
      texts.push({ role, content: content + callsText(message) });
      continue;
    }
    // All results share one message, because some templates reject consecutive messages of the same role.
    const result = `${RESULT_BEGIN}\n${content}\n${RESULT_END}`;
    const last = texts.at(-1);
    if (last?.role === "tool") texts[texts.length - 1] = { role, content: `${last.content}\n${result}` };
    else texts.push({ role, content: result });
  }
  if (toolUse === null) return texts;
  const [first] = texts;
  const isSystem = first?.role === "system" || first?.role === "developer";
  const system = isSystem ? `${first.content}\n\n${describeTools(toolUse)}` : describeTools(toolUse);
  return [{ role: "system", content: system }, ...(isSystem ? texts.slice(1) : texts)];
}

function callsText({ content, tool_calls: calls = [] }: ChatMessage): string {
  const texts = calls.map(({ function: { name, arguments: args } }) => {
    return `${CALL_BEGIN}\n{"name": ${JSON.stringify(name)}, "arguments": ${jsonOf(args)}}\n${CALL_END}`;
  });
  return (content === "" || texts.length === 0 ? "" : "\n") + texts.join("\n");
}

/** Returns the text as JSON; invalid JSON becomes a JSON string. */
function jsonOf(args: string): string {
  try {
    JSON.parse(args);
    return args;
  } catch {
    return JSON.stringify(args);
  }
}

/** Describes the tools. The text is short, because it uses context in every request. */
function describeTools({ tools, isRequired, maxCalls }: ToolUse): string {
  const signatures = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ name, ...(description === null ? {} : { description }), parameters }),
  );
  return [
    "<tools>",
    ...signatures,
    "</tools>",
    `To call ${maxCalls === 1 ? "one tool" : "tools"}, write${maxCalls === 1 ? "" : " for each"}`,
    `${CALL_BEGIN}\n{"name": "", "arguments": {}}\n${CALL_END}`,
    ...(isRequired ? ["Answer with a call."] : []),
  ].join("\n");
}

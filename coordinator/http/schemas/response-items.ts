import { z } from "@hono/zod-openapi";
import { toolCallSchema, type ToolCall } from "../../../shared/chat-tools.ts";

const MAX_PARTS = 256;
const MAX_ITEMS = 4_096;

const PART_TYPES = ["input_text", "output_text", "text"] as const;
const partSchema = z.object({ type: z.enum(PART_TYPES), text: z.string() });
const contentSchema = z.union([z.string(), z.array(partSchema).min(1).max(MAX_PARTS)]);
const ITEM_TYPES = ["message", "reasoning", "function_call", "function_call_output"] as const;
/** Items of a response's `input`. Source: OpenAI's API. */
const itemSchema = z.union([
  z.object({
    type: z.literal("message").nullish(),
    role: z.enum(["user", "assistant", "system", "developer"]),
    content: contentSchema,
  }),
  z.object({ type: z.literal("reasoning") }),
  z.object({
    type: z.literal("function_call"),
    call_id: toolCallSchema.shape.id,
    name: toolCallSchema.shape.function.shape.name,
    arguments: z.string(),
  }),
  z.object({ type: z.literal("function_call_output"), call_id: toolCallSchema.shape.id, output: contentSchema }),
]);
type Item = z.infer<typeof itemSchema>;

/** A response's `input`: the text of a user, or items. */
export const responseInputSchema = z.union([z.string().min(1), z.array(itemSchema).min(1).max(MAX_ITEMS)], {
  error: ({ input }) => describeInputFault(input),
});

/** Names what is wrong: of a union, zod tells only that nothing fits. */
function describeInputFault(input: unknown): string {
  if (!Array.isArray(input) || input.length === 0 || input.length > MAX_ITEMS) {
    return `must be a text that is not empty, or a list of 1 to ${MAX_ITEMS} items`;
  }
  const index = input.findIndex((item) => !itemSchema.safeParse(item).success);
  const type = (input[index] as { type?: unknown } | null)?.type ?? "message";
  const expected = ITEM_TYPES.find((known) => known === type);
  const part = otherPart(input[index]);
  if (expected !== undefined && part !== undefined) {
    return `has item ${index} with a part of the type ${JSON.stringify(part)}; only text is served: ${PART_TYPES.join(", ")}`;
  }
  if (expected !== undefined) return `has item ${index}, which must have ${MEMBERS[expected]}`;
  return `has item ${index} of the type ${JSON.stringify(type)}; only ${ITEM_TYPES.join(", ")} are served`;
}

/** The type of the item's first part that is not text; undefined if there is none. */
function otherPart(item: unknown): string | undefined {
  const { content, output } = (item ?? {}) as { content?: unknown; output?: unknown };
  const parts: unknown[] = [content, output].find((list) => Array.isArray(list)) ?? [];
  return parts
    .map((part) => (part as { type?: unknown } | null)?.type)
    .filter((type) => typeof type === "string")
    .find((type) => !PART_TYPES.some((known) => known === type));
}

const MEMBERS: Record<(typeof ITEM_TYPES)[number], string> = {
  message: "role and content, which is a text or a list of parts of text",
  reasoning: "its type",
  function_call: "call_id, name and arguments",
  function_call_output: "call_id and output, which is a text or a list of parts of text",
};

/** A message of a chat. */
export interface Turn {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[] | undefined;
  readonly tool_call_id?: string | undefined;
}

/** The messages that a chat has for items. Models are not shown earlier thoughts. Calls that follow each other, or a text, are one message of the assistant. */
export function turnsOf(items: readonly Item[]): Turn[] {
  const turns: Turn[] = [];
  for (const item of items) {
    if (item.type === "reasoning") continue;
    const last = turns.at(-1);
    if (item.type === "function_call") {
      const { call_id: id, name, arguments: args } = item;
      const call: ToolCall = { id, type: "function", function: { name, arguments: args } };
      const isNext = last?.role === "assistant";
      if (isNext) turns.pop();
      turns.push({
        ...(isNext ? last : { role: "assistant", content: "" }),
        tool_calls: [...(last?.tool_calls ?? []), call],
      });
    } else if (item.type === "function_call_output") {
      turns.push({ role: "tool", content: textOf(item.output), tool_call_id: item.call_id });
    } else turns.push({ role: item.role, content: textOf(item.content) });
  }
  return turns;
}

function textOf(content: z.infer<typeof contentSchema>): string {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}

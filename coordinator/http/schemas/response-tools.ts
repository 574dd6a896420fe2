import { z } from "@hono/zod-openapi";
import { MAX_TOOLS, toolCallSchema, toolFields, type ToolFields } from "../../../shared/chat-tools.ts";
import type { JobInput } from "../../store/job-store.ts";

const nameSchema = toolCallSchema.shape.function.shape.name;
const namedSchema = z.object({ type: z.literal("function", "only functions are served"), name: nameSchema });

/** A tool as OpenAI's responses have it: the members of `function` stand beside its type. */
const responseToolSchema = z.object({
  type: z.literal("function", 'must be "function": built-in tools such as web_search are not served'),
  name: nameSchema,
  description: z.string().nullish(),
  /** JSON Schema of the arguments, which are an object. */
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

const responseChoiceSchema = z.union(
  [
    z.enum(["auto", "none", "required"]),
    namedSchema,
    z.object({
      type: z.literal("allowed_tools"),
      mode: z.enum(["auto", "required"]),
      tools: z.array(namedSchema).min(1).max(MAX_TOOLS),
    }),
  ],
  { error: 'must be "auto", "none", "required", a function by its type and name, or allowed_tools' },
);
type Choice = z.infer<typeof responseChoiceSchema>;

/** Fields about tools in the body of a response. */
export const responseToolFields = {
  tools: z.array(responseToolSchema).max(MAX_TOOLS).nullish(),
  tool_choice: responseChoiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
};
const fieldsSchema = z.object(responseToolFields);

/** What a response says of its tools: what was asked, or the defaults. */
export const presentedToolsSchema = z.object({
  parallel_tool_calls: z.boolean(),
  tool_choice: responseChoiceSchema,
  tools: z.array(
    z.object({
      ...namedSchema.shape,
      description: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
});

/** The fields of a chat's input about tools; undefined or null where nothing was asked. */
export function responseToolInputOf({
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
}: z.infer<typeof fieldsSchema>): ToolFields {
  return {
    tools: tools?.map(({ type, ...asked }) => ({ type, function: asked })),
    tool_choice: choice == null ? undefined : chatChoiceOf(choice),
    parallel_tool_calls: parallel,
  };
}

function chatChoiceOf(choice: Choice): ToolFields["tool_choice"] {
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "function", function: { name: choice.name } };
  const { type, mode, tools } = choice;
  return { type, allowed_tools: { mode, tools: tools.map(({ name }) => ({ type: "function", function: { name } })) } };
}

const askedSchema = z.object(toolFields);

/** What the job of a response was asked about tools. */
export function presentTools(input: JobInput): z.infer<typeof presentedToolsSchema> {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = askedSchema.parse(input);
  return {
    parallel_tool_calls: parallel !== false,
    tool_choice: choice == null ? "auto" : responseChoiceOf(choice),
    tools: (tools ?? []).map(({ type, function: asked }) => ({
      type,
      name: asked.name,
      description: asked.description ?? null,
      parameters: asked.parameters ?? null,
      strict: asked.strict ?? null,
    })),
  };
}

function responseChoiceOf(choice: NonNullable<ToolFields["tool_choice"]>): Choice {
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "function", name: choice.function.name };
  const { mode, tools } = choice.allowed_tools;
  return { type: choice.type, mode, tools: tools.map((tool) => ({ type: "function", name: tool.function.name })) };
}

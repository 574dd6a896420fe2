import { z } from "zod";
import { KIB } from "./format-bytes.ts";
import { ANTHROPIC_PRICE, EARLIER_RESPONSE, ignored, requestObject } from "./request-object.ts";

/** Limits of OpenAI's API. */
export const MAX_TOOLS = 128;
export const toolNameSchema = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be 1 to 64 of a-z, A-Z, 0-9, _ and -");
/** Limit of all tools together as JSON. Every tool is part of the prompt, and its schema is part of a grammar. */
const MAX_TOOLS_BYTES = 256 * KIB;
/** Maximum number of tools that all agents with support for tools accept. */
export const FIRST_TOOLS_BYTES = 64 * KIB;
/** Maximum number of tool calls in one completion. */
export const MAX_TOOL_CALLS = 16;
/** Maximum number of tool calls in one message of a history, which other software may have written. */
const MAX_PAST_CALLS = 128;

export const toolSchema = requestObject({
  type: z.literal("function", 'must be "function"'),
  function: z.object({
    name: toolNameSchema.describe("1 to 64 of a-z, A-Z, 0-9, _ and -"),
    description: z.string().nullish().describe("Part of the prompt"),
    parameters: z.record(z.string(), z.unknown()).nullish().describe("JSON Schema of the arguments, an object"),
    strict: z
      .boolean()
      .nullish()
      .describe("Arguments must match `parameters`; otherwise the job fails with `schema_unmet`"),
  }),
  cache_control: ANTHROPIC_PRICE,
});
export const NOT_OFFERED = "tools of other types are not offered to the model";
const namedTool = z.object({
  type: z.literal("function", `must be "function": ${NOT_OFFERED}`),
  function: z.object({ name: toolNameSchema }),
});

/** Fields of a chat's input about tools. OpenAI clients send `null` for the default. */
export const toolFields = {
  tools: z
    .array(toolSchema)
    .max(MAX_TOOLS)
    .refine((tools) => Buffer.byteLength(JSON.stringify(tools)) <= MAX_TOOLS_BYTES, {
      message: `are larger than ${MAX_TOOLS_BYTES} bytes as JSON`,
    })
    .nullish(),
  tool_choice: z
    .union(
      [
        z.enum(["auto", "none", "required"]),
        namedTool,
        z.object({
          type: z.literal("allowed_tools"),
          allowed_tools: z.object({
            mode: z.enum(["auto", "required"]),
            tools: z.array(namedTool).min(1).max(MAX_TOOLS),
          }),
        }),
      ],
      { error: `must be "auto", "none", "required", a function by its name, or allowed_tools; ${NOT_OFFERED}` },
    )
    .nullish()
    .describe("Or a function by its name, or `allowed_tools`"),
  parallel_tool_calls: z
    .boolean()
    .nullish()
    .describe(`Default true: up to ${MAX_TOOL_CALLS} tool calls; a named function is called once`),
};
const toolFieldsSchema = z.object(toolFields);
export type ToolFields = z.infer<typeof toolFieldsSchema>;

/** Tool call in the form that messages use. `arguments` is the JSON text that the model wrote. */
export const toolCallSchema = requestObject({
  id: z.string().min(1).max(256),
  type: z.literal("function"),
  function: z.object({ name: toolNameSchema, arguments: z.string().describe("JSON text") }),
  index: ignored("tool calls keep the order of the list"),
  extra_content: EARLIER_RESPONSE,
});
export type ToolCall = z.infer<typeof toolCallSchema>;
export const pastCallsSchema = z.array(toolCallSchema).max(MAX_PAST_CALLS);

export interface ChatTool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the arguments are also validated against what a grammar of `parameters` cannot enforce. */
  readonly isStrict?: boolean;
}

/** Tools that the model may call in this completion. */
export interface ToolUse {
  /** At least one tool. */
  readonly tools: readonly ChatTool[];
  /** Whether the completion must be a call, not text. */
  readonly isRequired: boolean;
  readonly maxCalls: number;
}

/** Returns the usable tools; null without tools, or if `tool_choice` is "none". */
export function toolUseOf({ tools, tool_choice: choice, parallel_tool_calls: parallel }: ToolFields): ToolUse | null {
  const all = (tools ?? []).map(({ function: { name, description, parameters, strict } }): ChatTool => {
    return { name, description: description ?? null, parameters: objectSchema(parameters), isStrict: strict === true };
  });
  if (all.length === 0 || choice === "none") return null;
  const names = allowedNames(choice);
  return {
    tools: names === null ? all : all.filter(({ name }) => names.includes(name)),
    isRequired: isRequired(choice),
    // A named function is called once (OpenAI's guide). Otherwise a model that does not stop would call it up to the
    // limit.
    maxCalls: parallel === false || isNamed(choice) ? 1 : MAX_TOOL_CALLS,
  };
}

function isRequired(choice: ToolFields["tool_choice"]): boolean {
  if (typeof choice !== "object" || choice === null) return choice === "required";
  return isNamed(choice) || (choice.type === "allowed_tools" && choice.allowed_tools.mode === "required");
}

function isNamed(choice: ToolFields["tool_choice"]): boolean {
  return typeof choice === "object" && choice?.type === "function";
}

/** Returns the names of the allowed tools; null if all are allowed. */
export function allowedNames(choice: ToolFields["tool_choice"]): readonly string[] | null {
  if (typeof choice !== "object" || choice === null) return null;
  if (choice.type === "function") return [choice.function.name];
  return choice.allowed_tools.tools.map((tool) => tool.function.name);
}

/** Returns a schema of arguments, which must be an object. */
function objectSchema(parameters: Readonly<Record<string, unknown>> | null | undefined): ChatTool["parameters"] {
  if (parameters == null || Object.keys(parameters).length === 0) {
    return { type: "object", properties: {}, additionalProperties: false };
  }
  return parameters["type"] === undefined && parameters["$ref"] === undefined
    ? { ...parameters, type: "object" }
    : parameters;
}

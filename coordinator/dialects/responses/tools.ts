import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { MAX_TOOLS, NOT_OFFERED, toolFields, toolNameSchema, type ToolFields } from "../../../shared/chat-tools.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import { ignored, refused, requestObject } from "../../../shared/request-object.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { offeredTools, otherToolSchema, type OfferedTool } from "../../http/schemas/offered-tools.ts";

const MAX_NAME_CHARS = 64;
const CLIENT_FUNCTIONS = "the model calls tools and the client runs them";
const namedSchema = z.object({
  type: z.literal("function", `must be "function": ${NOT_OFFERED}`),
  name: toolNameSchema,
});
const namespaced = { namespace: toolNameSchema.nullish() };

const functionSchema = requestObject({
  type: namedSchema.shape.type,
  name: toolNameSchema.describe("1 to 64 of a-z, A-Z, 0-9, _ and -"),
  description: z.string().nullish().describe("Description of the tool, which is part of the prompt"),
  parameters: z.record(z.string(), z.unknown()).nullish().describe("JSON Schema of the arguments, which are an object"),
  strict: z
    .boolean()
    .nullish()
    .describe("Whether the job fails with `schema_unmet` if the arguments do not match `parameters`"),
  defer_loading: ignored("all tools are always in the prompt", [false]),
  allowed_callers: ignored(CLIENT_FUNCTIONS, [["direct"]]),
  async: refused(CLIENT_FUNCTIONS, [false]),
  output_schema: ignored("tool outputs are plain text"),
});
const namespaceSchema = z.object({
  type: z.literal("namespace"),
  name: toolNameSchema,
  description: z.string().nullish(),
  tools: z
    .array(z.union([functionSchema, otherToolSchema("function")], "must be a function, or a tool of another type"))
    .max(MAX_TOOLS)
    .describe("Functions of a namespace; the model sees `lookup` of `crm` as `crm__lookup`"),
});
const responseToolSchema = z.union(
  [functionSchema, namespaceSchema, otherToolSchema("function", "namespace")],
  "must be a function, a namespace, or a tool of another type",
);
/** Tools of a request. The total of the tools inside namespaces is limited before any tool is checked. */
const toolsSchema = z.preprocess((tools, context) => {
  const inside = Array.isArray(tools) ? tools.flatMap((tool) => (isJsonObject(tool) ? (tool["tools"] ?? []) : [])) : [];
  if (inside.length > MAX_TOOLS) {
    const message = `have ${inside.length} tools in namespaces; at most ${MAX_TOOLS} are allowed`;
    context.addIssue({ code: "custom", message });
  }
  return tools;
}, z.array(responseToolSchema).max(MAX_TOOLS));
type Tools = readonly z.infer<typeof responseToolSchema>[] | null | undefined;

const choiceModes = z.enum(["auto", "none", "required"]);
const allowedFields = { type: z.literal("allowed_tools"), mode: z.enum(["auto", "required"]) };
const responseChoiceSchema = z.union(
  [
    choiceModes,
    namedSchema.extend(namespaced),
    z.object({ ...allowedFields, tools: z.array(namedSchema.extend(namespaced)).min(1).max(MAX_TOOLS) }),
  ],
  {
    error: `must be "auto", "none", "required", a function by its type and name, or allowed_tools; ${NOT_OFFERED}`,
  },
);
type Choice = z.infer<typeof responseChoiceSchema>;

export const responseToolFields = {
  tools: toolsSchema.nullish().describe("Functions and namespaces of functions, at most 256 KB in total"),
  tool_choice: responseChoiceSchema.nullish(),
  parallel_tool_calls: toolFields.parallel_tool_calls,
};
const fieldsSchema = z.object(responseToolFields);

/** Tool fields as a response presents them: those offered to the model, or the defaults. */
export const presentedToolsSchema = z.object({
  parallel_tool_calls: z.boolean(),
  tool_choice: z.union([
    choiceModes,
    namedSchema,
    z.object({ ...allowedFields, tools: z.array(namedSchema).min(1).max(MAX_TOOLS) }),
  ]),
  tools: z.array(
    z.object({
      ...namedSchema.shape,
      description: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
});
type PresentedTools = z.infer<typeof presentedToolsSchema>;

interface FunctionName {
  readonly name: string;
  readonly namespace?: string | null | undefined;
}

/** A function of a namespace with the flat name that the model sees. A job's input stores it to map the name back. */
export const namespacedFunctionSchema = z.object({ flat_name: z.string(), namespace: z.string(), name: z.string() });
export type NamespacedFunction = z.infer<typeof namespacedFunctionSchema>;

/** Returns the flat name that the model sees. It starts with the namespace; a name that is too long ends in a hash. */
export function flatNameOf({ namespace, name }: FunctionName): string {
  if (namespace == null) return name;
  const flat = `${namespace}__${name}`;
  if (flat.length <= MAX_NAME_CHARS) return flat;
  const hash = createHash("sha256").update(flat).digest("hex").slice(0, 8);
  return `${flat.slice(0, MAX_NAME_CHARS - hash.length - 1)}_${hash}`;
}

type OfferedFunction = OfferedTool<z.infer<typeof functionSchema>> & Pick<FunctionName, "namespace">;

/** Returns the functions that are offered to the model, including those inside namespaces. */
export function offeredFunctions(tools: Tools): OfferedFunction[] {
  return offeredTools(tools).flatMap(({ tool, path }): OfferedFunction[] => {
    if (tool.type === "function") return [{ tool, path }];
    const { name: namespace, description } = tool;
    const inside = offeredTools(tool.tools, `${path}.tools`).map((offered) => ({ ...offered, namespace }));
    const [first, ...others] = inside;
    if (first === undefined || description == null) return inside;
    // Only the first function gets the description of the namespace, because every description is part of the prompt.
    const about = `${namespace}: ${description}\n\n${first.tool.description ?? ""}`.trim();
    return [{ ...first, tool: { ...first.tool, description: about } }, ...others];
  });
}

export function namespacedFunctions(offered: readonly OfferedFunction[]): NamespacedFunction[] {
  return offered.flatMap(({ namespace, tool: { name } }) =>
    namespace == null ? [] : [{ flat_name: flatNameOf({ namespace, name }), namespace, name }],
  );
}

/** Returns the tool fields of a chat's input; undefined or null if they were not given. */
export function responseToolInputOf(
  { tool_choice: choice, parallel_tool_calls: parallel }: Omit<z.infer<typeof fieldsSchema>, "tools">,
  offered: readonly OfferedFunction[],
): ToolFields {
  const tools = offered.map(({ namespace, tool: { type, name, ...rest } }) => {
    return { type, function: { name: flatNameOf({ namespace, name }), ...rest } };
  });
  return {
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: choice == null ? undefined : chatChoiceOf(choice, offered),
    parallel_tool_calls: parallel,
  };
}

function chatChoiceOf(choice: Choice, offered: readonly OfferedFunction[]): ToolFields["tool_choice"] {
  if (typeof choice === "string") return choice;
  const named = (chosen: FunctionName) => {
    return { type: "function" as const, function: { name: resolveName(chosen, offered) } };
  };
  if (choice.type === "function") return named(choice);
  const { type, mode, tools } = choice;
  return { type, allowed_tools: { mode, tools: tools.map(named) } };
}

/** Returns the flat name of a chosen function. The namespace may be missing if only one has such a function. */
function resolveName(chosen: FunctionName, offered: readonly OfferedFunction[]): string {
  const all = offered.map(({ namespace, tool: { name } }) => ({ name, flatName: flatNameOf({ namespace, name }) }));
  const flatName = flatNameOf(chosen);
  if (chosen.namespace != null || all.some((each) => each.flatName === flatName)) return flatName;
  const [only, ...others] = all.filter(({ name }) => name === chosen.name);
  return only === undefined || others.length > 0 ? flatName : only.flatName;
}

const toolInputSchema = z.object(toolFields);

/** Presents the tools that are offered to the model, with their flat names. */
export function presentTools(input: JobInput): PresentedTools {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = toolInputSchema.parse(input);
  return {
    parallel_tool_calls: parallel !== false,
    tool_choice: choice == null ? "auto" : responseChoiceOf(choice),
    tools: (tools ?? []).map(({ type, function: { name, description = null, parameters = null, strict = null } }) => {
      return { type, name, description, parameters, strict };
    }),
  };
}

function responseChoiceOf(choice: NonNullable<ToolFields["tool_choice"]>): PresentedTools["tool_choice"] {
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "function", name: choice.function.name };
  const { mode, tools } = choice.allowed_tools;
  return { type: choice.type, mode, tools: tools.map((tool) => ({ type: "function", name: tool.function.name })) };
}

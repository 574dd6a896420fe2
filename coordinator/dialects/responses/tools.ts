import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { MAX_TOOLS, NOT_OFFERED, toolFields, toolNameSchema, type ToolFields } from "../../../shared/chat-tools.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import { ignored, refused, requestObject } from "../../../shared/request-object.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { offeredTools, otherToolSchema, type OfferedTool } from "../../http/schemas/offered-tools.ts";

const MAX_NAME_CHARS = 64;
const CLIENT_FUNCTIONS = "tools are functions of the client, called by the model";
const namedSchema = z.object({
  type: z.literal("function", `must be "function": ${NOT_OFFERED}`),
  name: toolNameSchema,
});
const namespaced = { namespace: toolNameSchema.nullish() };

/** A tool as OpenAI's responses have it: the members of `function` stand beside its type. */
const functionSchema = requestObject({
  type: namedSchema.shape.type,
  name: toolNameSchema.describe("1 to 64 of a-z, A-Z, 0-9, _ and -"),
  description: z.string().nullish().describe("A part of the prompt"),
  parameters: z.record(z.string(), z.unknown()).nullish().describe("The JSON Schema of an object, as in `text.format`"),
  strict: z.boolean().nullish().describe("Arguments are valid by `parameters`, or the answer fails (`schema_unmet`)"),
  defer_loading: ignored("all tools are in the prompt", [false]),
  allowed_callers: ignored(CLIENT_FUNCTIONS, [["direct"]]),
  async: refused(CLIENT_FUNCTIONS, [false]),
  output_schema: ignored("outputs are texts"),
});
const namespaceSchema = z.object({
  type: z.literal("namespace"),
  name: toolNameSchema,
  description: z.string().nullish(),
  tools: z
    .array(z.union([functionSchema, otherToolSchema("function")], "must be a function, or have another type"))
    .max(MAX_TOOLS)
    .describe("Of a namespace: the model knows the function `lookup` of `crm` as `crm__lookup`"),
});
const responseToolSchema = z.union(
  [functionSchema, namespaceSchema, otherToolSchema("function", "namespace")],
  "must be a function, a namespace, or have another type",
);
/** Namespaces are flattened, so what they have together is limited before any tool is looked at. */
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

/** Fields about tools in the body of a response. */
export const responseToolFields = {
  tools: toolsSchema.nullish().describe("Functions and namespaces of functions, 256 KB together; calls by a grammar"),
  tool_choice: responseChoiceSchema.nullish(),
  parallel_tool_calls: toolFields.parallel_tool_calls,
};
const fieldsSchema = z.object(responseToolFields);

/** What a response says of its tools: what the model was offered, or the defaults. */
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

/** A function of a namespace and the name by which the model knows it. A job's input keeps it, as a name cannot be taken apart again. */
export const namespacedFunctionSchema = z.object({ flat_name: z.string(), namespace: z.string(), name: z.string() });
export type NamespacedFunction = z.infer<typeof namespacedFunctionSchema>;

/** The name by which the model knows a function: that of its namespace comes first. If it is too long, a hash is its end. */
export function flatNameOf({ namespace, name }: FunctionName): string {
  if (namespace == null) return name;
  const flat = `${namespace}__${name}`;
  if (flat.length <= MAX_NAME_CHARS) return flat;
  const hash = createHash("sha256").update(flat).digest("hex").slice(0, 8);
  return `${flat.slice(0, MAX_NAME_CHARS - hash.length - 1)}_${hash}`;
}

type OfferedFunction = OfferedTool<z.infer<typeof functionSchema>> & Pick<FunctionName, "namespace">;

/** The functions that the model is offered, with those of namespaces. */
export function offeredFunctions(tools: Tools): OfferedFunction[] {
  return offeredTools(tools).flatMap(({ tool, path }): OfferedFunction[] => {
    if (tool.type === "function") return [{ tool, path }];
    const { name: namespace, description } = tool;
    const inside = offeredTools(tool.tools, `${path}.tools`).map((offered) => ({ ...offered, namespace }));
    const [first, ...others] = inside;
    if (first === undefined || description == null) return inside;
    // Once for the namespace: every description is a part of the prompt.
    const about = [`${namespace}: ${description}`, first.tool.description ?? ""].join("\n\n").trim();
    return [{ ...first, tool: { ...first.tool, description: about } }, ...others];
  });
}

export function namespacedFunctions(offered: readonly OfferedFunction[]): NamespacedFunction[] {
  return offered.flatMap(({ namespace, tool: { name } }) =>
    namespace == null ? [] : [{ flat_name: flatNameOf({ namespace, name }), namespace, name }],
  );
}

/** The fields of a chat's input about tools; undefined or null where nothing was asked. */
export function responseToolInputOf(
  { tool_choice: choice, parallel_tool_calls: parallel }: Omit<z.infer<typeof fieldsSchema>, "tools">,
  offered: readonly OfferedFunction[],
): ToolFields {
  const tools = offered.map(({ namespace, tool: { type, name, ...asked } }) => {
    return { type, function: { name: flatNameOf({ namespace, name }), ...asked } };
  });
  return {
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: choice == null ? undefined : chatChoiceOf(choice, offered),
    parallel_tool_calls: parallel,
  };
}

function chatChoiceOf(choice: Choice, offered: readonly OfferedFunction[]): ToolFields["tool_choice"] {
  if (typeof choice === "string") return choice;
  const all = offered.map(({ namespace, tool: { name } }) => ({ name, flatName: flatNameOf({ namespace, name }) }));
  const named = (asked: FunctionName) => ({
    type: "function" as const,
    function: { name: offeredNameOf(asked, all) },
  });
  if (choice.type === "function") return named(choice);
  const { type, mode, tools } = choice;
  return { type, allowed_tools: { mode, tools: tools.map(named) } };
}

/** OpenAI's own choices name a function without its namespace, which is enough while only one namespace has it. */
function offeredNameOf(
  asked: FunctionName,
  all: readonly { readonly name: string; readonly flatName: string }[],
): string {
  const flatName = flatNameOf(asked);
  if (asked.namespace != null || all.some((each) => each.flatName === flatName)) return flatName;
  const [only, ...others] = all.filter(({ name }) => name === asked.name);
  return only === undefined || others.length > 0 ? flatName : only.flatName;
}

const askedSchema = z.object(toolFields);

/** The tools that the model of a response was offered, by the names that it knows. */
export function presentTools(input: JobInput): PresentedTools {
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

function responseChoiceOf(choice: NonNullable<ToolFields["tool_choice"]>): PresentedTools["tool_choice"] {
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "function", name: choice.function.name };
  const { mode, tools } = choice.allowed_tools;
  return { type: choice.type, mode, tools: tools.map((tool) => ({ type: "function", name: tool.function.name })) };
}

import { z } from "@hono/zod-openapi";
import { isJsonObject } from "../../../shared/json-value.ts";
import { MAX_TOOLS, toolNameSchema } from "../../../shared/chat-tools.ts";
import { ANTHROPIC_PRICE, ignored, requestObject } from "../../../shared/request-object.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { offeredTools, otherToolSchema } from "../../http/schemas/offered-tools.ts";

const customToolSchema = requestObject({
  type: z.literal("custom").nullish(),
  name: toolNameSchema.describe("1 to 64 of a-z, A-Z, 0-9, _ and -"),
  description: z.string().nullish().describe("Description of the tool, which is part of the prompt"),
  input_schema: z.record(z.string(), z.unknown()).describe("JSON Schema of the input, which is an object"),
  strict: z
    .boolean()
    .nullish()
    .describe("Whether the job fails with `schema_unmet` if the input does not match `input_schema`"),
  cache_control: ANTHROPIC_PRICE,
  defer_loading: ignored("all tools are always in the prompt", [false]),
  allowed_callers: ignored("the model calls tools and the client runs them", [["direct"]]),
  eager_input_streaming: ignored("tool inputs are always streamed as they are generated"),
  input_examples: ignored("put examples in `description`"),
});
export const messageToolsSchema = z
  .array(z.union([customToolSchema, otherToolSchema("custom")], "must have a name and an input_schema"))
  .max(MAX_TOOLS)
  .describe("Client tools, at most 256 KB in total; built-in tools are not offered to the model");

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };
export const messageToolChoiceSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("auto"), ...parallel }),
  z.object({ type: z.literal("any"), ...parallel }),
  z.object({ type: z.literal("tool"), name: z.string().max(64), ...parallel }),
  z.object({ type: z.literal("none") }),
]);

type Tools = z.infer<typeof messageToolsSchema> | null | undefined;
type Choice = z.infer<typeof messageToolChoiceSchema>;

export function toolInputOf(given: Tools, choice: Choice | null | undefined): JobInput {
  const tools = offeredTools(given).map(({ tool }) => functionOf(tool));
  const isSerial = choice != null && choice.type !== "none" && choice.disable_parallel_tool_use === true;
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice == null ? {} : { tool_choice: choiceOf(choice) }),
    ...(isSerial ? { parallel_tool_calls: false } : {}),
  };
}

function functionOf({ name, description, input_schema: parameters, strict }: z.infer<typeof customToolSchema>): object {
  const more = { ...(description == null ? {} : { description }), ...(strict == null ? {} : { strict }) };
  return { type: "function", function: { name, parameters, ...more } };
}

function choiceOf(choice: Choice): unknown {
  if (choice.type === "tool") return { type: "function", function: { name: choice.name } };
  return choice.type === "any" ? "required" : choice.type;
}

/** Parses the arguments of a tool call. Returns an empty object if the token limit cut them. */
export function parseArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

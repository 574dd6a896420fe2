import { z } from "@hono/zod-openapi";
import { isJsonObject } from "../../../shared/json-value.ts";
import type { JobInput } from "../../store/job-store.ts";

/** A tool as Anthropic's API has it; built-in ones have other types. */
export const messageToolSchema = z.object({
  type: z.literal("custom", 'must be "custom": built-in tools are not served').nullish(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be 1 to 64 of a-z, A-Z, 0-9, _ and -"),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
  strict: z.boolean().nullish(),
});

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };
export const messageToolChoiceSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("auto"), ...parallel }),
  z.object({ type: z.literal("any"), ...parallel }),
  z.object({ type: z.literal("tool"), name: z.string().max(64), ...parallel }),
  z.object({ type: z.literal("none") }),
]);

type Tool = z.infer<typeof messageToolSchema>;
type Choice = z.infer<typeof messageToolChoiceSchema>;

/** The fields of a chat's input about tools; none without tools. */
export function toolInputOf(tools: readonly Tool[], choice: Choice | null): JobInput {
  if (tools.length === 0 && choice === null) return {};
  return {
    ...(tools.length === 0 ? {} : { tools: tools.map(functionOf) }),
    ...(choice === null ? {} : { tool_choice: choiceOf(choice) }),
    ...(choice !== null && choice.type !== "none" && choice.disable_parallel_tool_use === true
      ? { parallel_tool_calls: false }
      : {}),
  };
}

function functionOf({ name, description, input_schema: parameters, strict }: Tool): object {
  const more = { ...(description == null ? {} : { description }), ...(strict == null ? {} : { strict }) };
  return { type: "function", function: { name, parameters, ...more } };
}

function choiceOf(choice: Choice): unknown {
  if (choice.type === "tool") return { type: "function", function: { name: choice.name } };
  return choice.type === "any" ? "required" : choice.type;
}

/** The arguments of a call; empty for those that a limit of tokens has cut. */
export function argumentsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

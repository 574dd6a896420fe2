import type { ResponseFormat } from "../../shared/chat-input.ts";
import type { ChatTool, ToolCall, ToolUse } from "../../shared/chat-tools.ts";
import { argumentsSchemaOf, knowsCheckOf, looseTools } from "../../shared/grammar/call-schema.ts";
import { fitsGrammar, fitsRead } from "../../shared/grammar/grammar-fit.ts";
import { UnsupportedSchema } from "../../shared/grammar/grammar-schema.ts";
import { isJsonObject } from "../../shared/json-value.ts";
import type { FinishReason } from "../../shared/output.ts";
import { completionFault, completionSteps, TOO_LONG } from "../catalog/completion-schema.ts";
import { MAX_LOOP_STEPS } from "../catalog/schema-rules.ts";

/** A completion, and the parts of its request that determine its form. */
export interface Answer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  readonly request: AnswerRequest;
}

interface AnswerRequest {
  readonly responseFormat: ResponseFormat;
  readonly stopBytes: number;
  readonly toolUse: ToolUse | null;
}

export interface AnswerVerdict {
  /** False if text or calls could not have come from the grammar of the request. */
  readonly fits: boolean;
  /** Where a completion that fits does not match the client's whole schema; null for a match, and if not checked. */
  readonly unmet: string | null;
}

/** Steps of reading a schema as a grammar, for each byte. See `schema-rules.ts` for the unit. */
const STEPS_PER_SCHEMA_BYTE = 100;
/** Steps of parsing a character and comparing it with a grammar. */
const STEPS_PER_CHAR = 2;

/** Returns whether text and calls are as requested. */
export function judgeAnswer({ text, calls, finishReason, request }: Answer): AnswerVerdict {
  const fits =
    callsMatchRequest(calls, request.toolUse, finishReason) &&
    (finishReason !== "stop" || matchesFormat(text, request));
  return { fits, unmet: fits ? unmetSchema(text, calls, finishReason, request) : null };
}

/** Returns the verdict on an answer whose check was stopped: as for one whose client's schema takes too long. */
export function judgeStopped({
  calls,
  finishReason,
  request: { responseFormat, toolUse, stopBytes },
}: Answer): AnswerVerdict {
  const isSchema = responseFormat.type === "json_schema" && stopBytes === 0 && finishReason === "stop";
  const isStrict = finishReason === "tool_calls" && calls.some((call) => strictToolOf(call, toolUse) !== undefined);
  return { fits: true, unmet: isSchema || isStrict ? TOO_LONG : null };
}

/**
 * Returns the number of steps of {@link judgeAnswer}; Infinity for schemas whose cost is unknown. A number above
 * MAX_LOOP_STEPS may leave out some calls.
 */
export function answerSteps({
  text,
  calls,
  finishReason,
  request: { responseFormat, toolUse, stopBytes },
}: Answer): number {
  let steps = 0;
  if (toolUse !== null && calls.length > 0) {
    const { tools } = toolUse;
    const bytes = JSON.stringify(tools).length;
    steps += bytes * (knowsCheckOf(tools) ? calls.length : STEPS_PER_SCHEMA_BYTE);
    for (const call of calls) {
      // The schema is measured for each call, which is itself expensive for a large one.
      if (steps > MAX_LOOP_STEPS) return steps;
      const chars = call.function.arguments.length;
      const tool = tools.find(({ name }) => name === call.function.name);
      if (tool === undefined) continue;
      steps += JSON.stringify(tool.parameters).length * STEPS_PER_SCHEMA_BYTE + chars * STEPS_PER_CHAR;
      if (tool.isStrict === true) steps += completionSteps(tool.parameters, chars);
    }
  }
  if (finishReason !== "stop" || stopBytes > 0 || responseFormat.type === "text") return steps;
  steps += text.length * STEPS_PER_CHAR;
  if (responseFormat.type === "json_object") return steps;
  const { schema } = responseFormat.json_schema;
  return steps + JSON.stringify(schema).length * STEPS_PER_SCHEMA_BYTE + completionSteps(schema, text.length);
}

/**
 * Returns true if tools, number and arguments of the calls are as requested. Does not check a last call that was cut.
 */
function callsMatchRequest(calls: readonly ToolCall[], use: ToolUse | null, finishReason: FinishReason): boolean {
  if (use === null) return calls.length === 0;
  const isCut = finishReason === "length";
  if (!isCut && (finishReason === "tool_calls") !== calls.length > 0) return false;
  if (use.isRequired && calls.length === 0) return isCut;
  if (calls.length > use.maxCalls) return false;
  const whole = isCut ? calls.slice(0, -1) : calls;
  return whole.every((call) => fitsTool(call, use));
}

function fitsTool({ function: { name, arguments: args } }: ToolCall, { tools }: ToolUse): boolean {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) return false;
  try {
    const value: unknown = JSON.parse(args);
    if (!isJsonObject(value)) return false;
    return looseTools(tools).has(name) || fitsRead(value, argumentsSchemaOf(tool));
  } catch (error) {
    // An earlier version of the coordinator accepted the schema.
    return error instanceof UnsupportedSchema;
  }
}

/** Returns true if the text has the requested format. Text that a stop sequence may have cut is not checked. */
function matchesFormat(text: string, { responseFormat, stopBytes }: AnswerRequest): boolean {
  if (responseFormat.type === "text" || stopBytes > 0) return true;
  const value = parseJson(text);
  if (responseFormat.type === "json_object") return typeof value === "object" && value !== null;
  const { schema } = responseFormat.json_schema;
  try {
    return value !== undefined && fitsGrammar(value, schema);
  } catch (error) {
    // An earlier version of the coordinator accepted the schema.
    if (error instanceof UnsupportedSchema) return true;
    throw error;
  }
}

/**
 * Returns where a completion does not match the client's schema although the grammar allowed it, such as a pattern with
 * look-around. This is not a failure of the Island. Returns null for a valid completion, and for one that was cut.
 * Arguments of tool calls are checked for tools with `strict`.
 */
function unmetSchema(
  text: string,
  calls: readonly ToolCall[],
  finishReason: FinishReason,
  { responseFormat, stopBytes, toolUse }: AnswerRequest,
): string | null {
  if (toolUse !== null && finishReason === "tool_calls") return unmetTool(calls, toolUse);
  if (responseFormat.type !== "json_schema" || stopBytes > 0 || finishReason !== "stop") return null;
  return completionFault(responseFormat.json_schema.schema, parseJson(text));
}

function unmetTool(calls: readonly ToolCall[], use: ToolUse): string | null {
  for (const call of calls) {
    const tool = strictToolOf(call, use);
    const fault = tool === undefined ? null : completionFault(tool.parameters, parseJson(call.function.arguments));
    if (fault !== null) return `the arguments of "${call.function.name}": ${fault}`;
  }
  return null;
}

function strictToolOf({ function: { name } }: ToolCall, use: ToolUse | null): ChatTool | undefined {
  return use?.tools.find((tool) => tool.name === name && tool.isStrict === true);
}

/** Returns the value of a JSON text; undefined for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import type { ToolCall, ToolUse } from "../../shared/chat-tools.ts";
import { fitsGrammar } from "../../shared/grammar/grammar-fit.ts";
import { UnsupportedSchema } from "../../shared/grammar/grammar-schema.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { NumberedFrame } from "../../shared/protocol/from-island.ts";
import { completionFault } from "../catalog/completion-schema.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { inputSchemas } from "../catalog/input-schema.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import { isEmptyOutput } from "../jobs/job-ending.ts";
import { callsMatchRequest, toolCallsOf } from "../jobs/tool-calls.ts";
import type { JobTraits } from "../jobs/job-traits.ts";

/**
 * Why a result is rejected:
 * - `empty`: the attempt produced no output. The model may be the cause, so another Island gets an attempt.
 * - `schema_mismatch`: the Cargo's output schema excludes the value. The Cargo may be the cause, so another Island gets
 * an attempt.
 * - `contradicted`: the text of a chat differs from the text that the Island streamed.
 * - `malformed`: the text is not the requested JSON or lacks the requested log probabilities, or tool calls do not fit
 * the offered tools.
 */
export type ResultFault = "empty" | "schema_mismatch" | "contradicted" | "malformed";

type Finished = Pick<Extract<NumberedFrame, { type: "finished" }>, "output" | "finishReason">;

/** Returns true if the request allows the item. Reasoning requires a Cargo that supports it. */
export function isRequested(item: OutputItem, traits: JobTraits | null): boolean {
  if (item.type === "tool_call") return traits?.toolUse != null;
  if (item.type === "reasoning") return traits?.canReason === true;
  if (item.type !== "token" || item.logprobs === undefined) return true;
  const max = traits?.topLogprobs ?? null;
  return max !== null && item.logprobs.every(({ top }) => top.length <= max);
}

/**
 * Returns the fault of the current attempt's result; null if none is detectable.
 * @param job Its feed must be loaded.
 */
export function faultOf(
  job: Pick<ActiveJob, "feed" | "traits" | "attempt">,
  cargo: Pick<CatalogEntry, "isChat" | "outputSchema"> | undefined,
  { output, finishReason }: Finished,
): ResultFault | null {
  const { feed, traits, attempt } = job;
  const text = feed.text();
  const hasOutput = feed.outputAttempt === attempt;
  if (cargo?.isChat === true) {
    if (output !== undefined && output !== text) return "contradicted";
    const calls = toolCallsOf(feed.items);
    const isCutReasoning = finishReason === "length" && feed.items.some(({ type }) => type === "reasoning");
    if (!hasOutput || (text === "" && calls.length === 0 && !isCutReasoning)) return "empty";
    if (traits?.topLogprobs != null && text !== "" && !hasProbabilities(feed)) return "malformed";
    if (traits !== null && !callsMatchRequest(calls, traits.toolUse, finishReason)) return "malformed";
    return finishReason === "stop" && traits !== null && !matchesFormat(text, traits) ? "malformed" : null;
  }
  // Streamed text is the output, regardless of what the result contains.
  const value = typeof output === "string" && feed.hasText ? text : (output ?? (hasOutput ? text : ""));
  const bytes = JSON.stringify(value).length;
  if (cargo !== undefined && !inputSchemas.fits(cargo.outputSchema, value, bytes)) return "schema_mismatch";
  return isEmptyOutput(value) ? "empty" : null;
}

/**
 * Returns true if the request may be the cause of an empty result: a stop sequence came first, or the output was cut
 * before its first tool call had a name. A result of another Island refutes this.
 */
export function mayBeRequestedEmpty(
  traits: Pick<JobTraits, "stopBytes" | "toolUse"> | null,
  { finishReason }: Pick<Finished, "finishReason">,
): boolean {
  if (traits === null) return false;
  return finishReason === "length" ? traits.toolUse !== null : finishReason === "stop" && traits.stopBytes > 0;
}

function hasProbabilities({ items }: ActiveJob["feed"]): boolean {
  return items.some((item) => item.type === "token" && item.logprobs !== undefined && item.logprobs.length > 0);
}

/** Returns true if the text has the requested format. Text that a stop sequence may have cut is not checked. */
function matchesFormat(text: string, { responseFormat, stopBytes }: JobTraits): boolean {
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
export function unmetSchema(
  { feed, traits }: Pick<ActiveJob, "feed" | "traits">,
  { finishReason }: Finished,
): string | null {
  if (traits?.toolUse != null && finishReason === "tool_calls")
    return unmetTool(toolCallsOf(feed.items), traits.toolUse);
  if (traits?.responseFormat.type !== "json_schema" || traits.stopBytes > 0 || finishReason !== "stop") return null;
  return completionFault(traits.responseFormat.json_schema.schema, parseJson(feed.text()));
}

function unmetTool(calls: readonly ToolCall[], { tools }: ToolUse): string | null {
  for (const { function: call } of calls) {
    const tool = tools.find(({ name, isStrict }) => name === call.name && isStrict === true);
    const fault = tool === undefined ? null : completionFault(tool.parameters, parseJson(call.arguments));
    if (fault !== null) return `the arguments of "${call.name}": ${fault}`;
  }
  return null;
}

/** Returns the value of a JSON text; undefined for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

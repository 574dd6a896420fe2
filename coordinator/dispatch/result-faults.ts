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
import { areAsAsked, toolCallsOf } from "../jobs/tool-calls.ts";
import type { JobTraits } from "../jobs/job-traits.ts";

/**
 * The faults of a result.
 * - `empty`: the attempt produced nothing. A model may have nothing to output, so another Island is asked.
 * - `misshapen`: the Cargo's output schema excludes the value. The Cargo's program may be at fault, so another Island
 * is asked.
 * - `contradicted`: the text of a chat differs from the text that the Island streamed.
 * - `misformed`: the text is not the JSON that the client requested or lacks the requested log probabilities, or tool
 * calls were not offered or do not fit the tools.
 */
export type ResultFault = "empty" | "misshapen" | "contradicted" | "misformed";

type Finished = Pick<Extract<NumberedFrame, { type: "finished" }>, "output" | "finishReason">;

/**
 * Returns true if the request allows the item. Tool calls and log probabilities must be requested, the latter with at
 * most the requested number of other tokens. Reasoning requires a Cargo that supports it.
 */
export function isAskedFor(item: OutputItem, traits: JobTraits | null): boolean {
  if (item.type === "tool_call") return traits?.toolUse != null;
  if (item.type === "reasoning") return traits?.canThink === true;
  if (item.type !== "token" || item.logprobs === undefined) return true;
  const most = traits?.topLogprobs ?? null;
  return most !== null && item.logprobs.every(({ top }) => top.length <= most);
}

/**
 * Returns the fault of the present attempt's result; null if there is no detectable one.
 * @param job Its feed must be loaded.
 * @param cargo undefined if it was removed.
 */
export function faultOf(
  job: Pick<ActiveJob, "feed" | "traits" | "attempt">,
  cargo: Pick<CatalogEntry, "isChat" | "outputSchema"> | undefined,
  { output, finishReason }: Finished,
): ResultFault | null {
  const { feed, traits, attempt } = job;
  const text = feed.text();
  const hasSpoken = feed.outputAttempt === attempt;
  if (cargo?.isChat === true) {
    if (output !== undefined && output !== text) return "contradicted";
    const calls = toolCallsOf(feed.items);
    const isCutReasoning = finishReason === "length" && feed.items.some(({ type }) => type === "reasoning");
    if (!hasSpoken || (text === "" && calls.length === 0 && !isCutReasoning)) return "empty";
    if (traits?.topLogprobs != null && text !== "" && !hasProbabilities(feed)) return "misformed";
    if (traits !== null && !areAsAsked(calls, traits.toolUse, finishReason)) return "misformed";
    return finishReason === "stop" && traits !== null && !isAsAsked(text, traits) ? "misformed" : null;
  }
  // Streamed text is the output, whatever the result contains.
  const value = typeof output === "string" && feed.hasText ? text : (output ?? (hasSpoken ? text : ""));
  const bytes = JSON.stringify(value).length;
  if (cargo !== undefined && !inputSchemas.fits(cargo.outputSchema, value, bytes)) return "misshapen";
  return isEmptyOutput(value) ? "empty" : null;
}

/**
 * Returns true if the request may be the cause of an empty answer: a stop sequence came first, or the answer was cut
 * before its first tool call had a name. This cannot be verified here, but another Island may refute it.
 */
export function mayBeAskedEmpty(
  traits: Pick<JobTraits, "stopBytes" | "toolUse"> | null,
  { finishReason }: Pick<Finished, "finishReason">,
): boolean {
  if (traits === null) return false;
  return finishReason === "length" ? traits.toolUse !== null : finishReason === "stop" && traits.stopBytes > 0;
}

function hasProbabilities({ items }: ActiveJob["feed"]): boolean {
  return items.some((item) => item.type === "token" && item.logprobs !== undefined && item.logprobs.length > 0);
}

/**
 * Returns true if the text matches the requested format. A stop sequence may cut JSON anywhere, so such text is not
 * checked.
 */
function isAsAsked(text: string, { responseFormat, stopBytes }: JobTraits): boolean {
  if (responseFormat.type === "text" || stopBytes > 0) return true;
  const value = parsed(text);
  if (responseFormat.type === "json_object") return typeof value === "object" && value !== null;
  const { schema } = responseFormat.json_schema;
  try {
    return value !== undefined && fitsGrammar(value, schema);
  } catch (error) {
    // An earlier version accepted the schema.
    if (error instanceof UnsupportedSchema) return true;
    throw error;
  }
}

/**
 * Returns why an answer does not match the client's schema where the grammar cannot enforce it, such as a pattern with
 * look-around. This is not a failure of the Island. Null for a valid answer, and for one that was cut, as its finish
 * reason says so. Arguments of tool calls are checked for tools with `strict`.
 */
export function unmetSchema(
  { feed, traits }: Pick<ActiveJob, "feed" | "traits">,
  { finishReason }: Finished,
): string | null {
  if (traits?.toolUse != null && finishReason === "tool_calls")
    return unmetTool(toolCallsOf(feed.items), traits.toolUse);
  if (traits?.responseFormat.type !== "json_schema" || traits.stopBytes > 0 || finishReason !== "stop") return null;
  return completionFault(traits.responseFormat.json_schema.schema, parsed(feed.text()));
}

function unmetTool(calls: readonly ToolCall[], { tools }: ToolUse): string | null {
  for (const { function: asked } of calls) {
    const tool = tools.find(({ name, isStrict }) => name === asked.name && isStrict === true);
    const fault = tool === undefined ? null : completionFault(tool.parameters, parsed(asked.arguments));
    if (fault !== null) return `the arguments of "${asked.name}": ${fault}`;
  }
  return null;
}

/** Returns undefined for invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

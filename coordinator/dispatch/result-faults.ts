import type { ToolCall, ToolUse } from "../../shared/chat-tools.ts";
import { fitsGrammar } from "../../shared/grammar/grammar-fit.ts";
import { UnsupportedSchema } from "../../shared/grammar/grammar-schema.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { NumberedFrame } from "../../shared/protocol/from-island.ts";
import { answerFault } from "../catalog/answer-schema.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { inputSchemas } from "../catalog/input-schema.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import { isEmptyOutput } from "../jobs/job-ending.ts";
import { areAsAsked, toolCallsOf } from "../jobs/tool-calls.ts";
import type { JobTraits } from "../jobs/job-traits.ts";

/**
 * What is wrong with a result.
 * - `empty`: the attempt gave nothing, where that is possible. A model may have nothing to say, so another Island is asked.
 * - `misshapen`: a value that its Cargo's output schema excludes. The Cargo's program may be at fault, so another Island is asked.
 * - `contradicted`: the Island gives a chat another text than it streamed.
 * - `misformed`: text that is not the JSON that its client asked for, calls of tools that it did not offer or that do not fit them, or text
 *   without the probabilities that it asked for.
 */
export type ResultFault = "empty" | "misshapen" | "contradicted" | "misformed";

type Finished = Pick<Extract<NumberedFrame, { type: "finished" }>, "output" | "finishReason">;

/**
 * Calls of tools and probabilities are for chats that ask for them, the latter with as many other tokens as these ask for; thoughts are
 * of Cargos that think.
 */
export function isAskedFor(item: OutputItem, traits: JobTraits | null): boolean {
  if (item.type === "tool_call") return traits?.toolUse != null;
  if (item.type === "reasoning") return traits?.canThink === true;
  if (item.type !== "token" || item.logprobs === undefined) return true;
  const most = traits?.topLogprobs ?? null;
  return most !== null && item.logprobs.every(({ top }) => top.length <= most);
}

/**
 * What is wrong with the result of the present attempt; null for nothing that shows.
 * @param job its feed is loaded. @param cargo undefined when it is gone.
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
  // Text that was streamed is the output, whatever the result says.
  const value = typeof output === "string" && feed.hasText ? text : (output ?? (hasSpoken ? text : ""));
  const bytes = JSON.stringify(value).length;
  if (cargo !== undefined && !inputSchemas.fits(cargo.outputSchema, value, bytes)) return "misshapen";
  return isEmptyOutput(value) ? "empty" : null;
}

/**
 * Whether the request may be why an answer is empty: a stop text came first, or the answer was cut before its first call had a name. Nobody
 * can check that here. Another Island may refute it.
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

/** A stop sequence may end JSON anywhere: then nothing can be said. */
function isAsAsked(text: string, { responseFormat, stopBytes }: JobTraits): boolean {
  if (responseFormat.type === "text" || stopBytes > 0) return true;
  const value = parsed(text);
  if (responseFormat.type === "json_object") return typeof value === "object" && value !== null;
  const { schema } = responseFormat.json_schema;
  try {
    return value !== undefined && fitsGrammar(value, schema);
  } catch (error) {
    // An earlier version took it.
    if (error instanceof UnsupportedSchema) return true;
    throw error;
  }
}

/**
 * Why an answer is not valid by its client's schema, in what no grammar keeps, such as a pattern with look-around: no fault of the Island.
 * Null for one that is valid, and for one that was cut: its finish reason says so. The arguments of calls are checked of tools with
 * `strict`.
 */
export function unmetSchema(
  { feed, traits }: Pick<ActiveJob, "feed" | "traits">,
  { finishReason }: Finished,
): string | null {
  if (traits?.toolUse != null && finishReason === "tool_calls")
    return unmetTool(toolCallsOf(feed.items), traits.toolUse);
  if (traits?.responseFormat.type !== "json_schema" || traits.stopBytes > 0 || finishReason !== "stop") return null;
  return answerFault(traits.responseFormat.json_schema.schema, parsed(feed.text()));
}

function unmetTool(calls: readonly ToolCall[], { tools }: ToolUse): string | null {
  for (const { function: asked } of calls) {
    const tool = tools.find(({ name, isStrict }) => name === asked.name && isStrict === true);
    const fault = tool === undefined ? null : answerFault(tool.parameters, parsed(asked.arguments));
    if (fault !== null) return `the arguments of "${asked.name}": ${fault}`;
  }
  return null;
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

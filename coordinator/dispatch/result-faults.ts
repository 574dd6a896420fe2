import type { ToolCall } from "../../shared/chat-tools.ts";
import { chatReadingSchema } from "../../shared/chat-reading.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { NumberedFrame } from "../../shared/protocol/from-island.ts";
import { isVisibleText } from "../../shared/visible-text.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { AnswerVerdict } from "../checks/answer-check.ts";
import type { Checks } from "../checks/checks.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import { isEmptyOutput } from "../jobs/job-ending.ts";
import { toolCallsOf } from "../jobs/tool-calls.ts";
import type { JobTraits } from "../jobs/job-traits.ts";

/**
 * Why a result is rejected:
 * - `empty`: the attempt produced no output, or only white space. The model may be the cause, so another Island gets an attempt.
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

/** What the check of a result found. */
export interface ResultVerdict {
  readonly fault: ResultFault | null;
  /** Where a completion without a fault does not match its client's schema; null if it does, and if not checked. */
  readonly unmet: string | null;
}

const PASSED: ResultVerdict = { fault: null, unmet: null };

/**
 * Returns the verdict on the current attempt's result, or a promise if the check is expensive. The promise rejects when
 * the coordinator stops.
 * @param job Its feed must be loaded.
 */
export function verdictOf(
  checks: Pick<Checks, "answer" | "output">,
  job: Pick<ActiveJob, "feed" | "traits" | "attempt" | "accountId">,
  cargo: Pick<CatalogEntry, "isChat" | "outputSchema"> | undefined,
  { output, finishReason }: Finished,
): ResultVerdict | Promise<ResultVerdict> {
  const { feed, traits, attempt, accountId } = job;
  if (traits?.isReading === true) {
    return chatReadingSchema.safeParse(output).success ? PASSED : { fault: "malformed", unmet: null };
  }
  const text = feed.text();
  const hasOutput = feed.outputAttempt === attempt;
  if (cargo?.isChat === true) {
    const calls = toolCallsOf(feed.items);
    const fault = chatFaultOf(job, calls, output, finishReason);
    if (fault !== null) return { fault, unmet: null };
    if (traits === null) return PASSED;
    const found = checks.answer(accountId, { text, calls, finishReason, request: traits });
    return found instanceof Promise ? found.then(verdictOfAnswer) : verdictOfAnswer(found);
  }
  // Streamed text is the output, regardless of what the result contains.
  const value = typeof output === "string" && feed.hasText ? text : (output ?? (hasOutput ? text : ""));
  const verdict = (fits: boolean): ResultVerdict => {
    if (!fits) return { fault: "schema_mismatch", unmet: null };
    return isEmptyOutput(value) ? { fault: "empty", unmet: null } : PASSED;
  };
  const fits = cargo === undefined || checks.output(accountId, cargo.outputSchema, value);
  return fits instanceof Promise ? fits.then(verdict) : verdict(fits);
}

/** Returns the fault of a completion that is independent of its format; null if it has none. */
function chatFaultOf(
  { feed, traits, attempt }: Pick<ActiveJob, "feed" | "traits" | "attempt">,
  calls: readonly ToolCall[],
  output: unknown,
  finishReason: Finished["finishReason"],
): ResultFault | null {
  const text = feed.text();
  if (output !== undefined && output !== text) return "contradicted";
  const isCutReasoning = finishReason === "length" && feed.items.some(({ type }) => type === "reasoning");
  // The limit of tokens may cut a text before its first visible character.
  const isCutText = text !== "" && finishReason === "length" && feed.tokens >= (traits?.maxTokens ?? Infinity);
  const isEmpty = !isVisibleText(text) && calls.length === 0 && !isCutReasoning && !isCutText;
  if (feed.outputAttempt !== attempt || isEmpty) return "empty";
  return traits?.topLogprobs != null && text !== "" && !hasProbabilities(feed) ? "malformed" : null;
}

function verdictOfAnswer({ fits, unmet }: AnswerVerdict): ResultVerdict {
  return fits ? { fault: null, unmet } : { fault: "malformed", unmet: null };
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

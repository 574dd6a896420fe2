import type { ToolCall } from "../../../shared/chat-tools.ts";
import type { JobState } from "../../../shared/job-state.ts";
import type { Usage } from "../../../shared/output.ts";
import type { JobRecord } from "../../store/job-store.ts";
import { jobPartSchema, type JobPart, type ResponseAnswer, type ResponseItem } from "./openai-response-schemas.ts";
import { presentTools } from "./response-tools.ts";

/** A response is a job; both ids have the same end. */
export function responseIdOf(jobId: string): string {
  return jobId.replace(/^job_/, "resp_");
}

/** The job of a response; null for an id that none has. */
export function jobIdOf(responseId: string): string | null {
  return /^resp_\w+$/.test(responseId) ? responseId.replace(/^resp_/, "job_") : null;
}

const itemIdOf = (jobId: string): string => jobId.replace(/^job_/, "msg_");

/** What the job has of a response; null for a job that is none. */
export function responsePartOf(job: Pick<JobRecord, "input">): JobPart["response"] | null {
  const parsed = jobPartSchema.safeParse(job.input);
  return parsed.success ? parsed.data.response : null;
}

type PresentedJob = Pick<JobRecord, "id" | "slug" | "input" | "createdAtMs">;

/** How far a response has come. */
export interface ResponseProgress {
  readonly state: JobState;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage | null;
  readonly isCut: boolean;
  /** Of one that failed. */
  readonly failure: string | null;
}

export const BEGUN: ResponseProgress = {
  state: "running",
  text: "",
  calls: [],
  usage: null,
  isCut: false,
  failure: null,
};

export function presentResponse(job: PresentedJob, progress: ResponseProgress): ResponseAnswer {
  const part = responsePartOf(job);
  if (part === null) throw new Error(`${job.id} is not the job of a response`);
  const { system_prompt: instructions, max_tokens: maxTokens, temperature, top_p: topP } = job.input;
  const { state, failure, isCut } = progress;
  const isOver = state === "completed";
  return {
    id: responseIdOf(job.id),
    object: "response",
    created_at: Math.floor(job.createdAtMs / 1_000),
    status: statusOf(progress),
    background: part.background,
    error: failure === null ? null : { code: "server_error", message: failure },
    incomplete_details: isOver && isCut ? { reason: "max_output_tokens" } : null,
    instructions: typeof instructions === "string" ? instructions : null,
    max_output_tokens: typeof maxTokens === "number" ? maxTokens : null,
    metadata: part.metadata,
    model: job.slug,
    output: outputItems(job.id, progress),
    ...presentTools(job.input),
    previous_response_id: part.previous_response_id,
    store: part.store,
    temperature: typeof temperature === "number" ? temperature : null,
    text: { format: part.format },
    top_p: typeof topP === "number" ? topP : null,
    truncation: "disabled",
    usage: presentUsage(progress.usage),
  };
}

/** A text, if there is one, and calls after it. The last is incomplete where the answer did not end well. */
function outputItems(jobId: string, progress: ResponseProgress): ResponseItem[] {
  const { state, text, calls } = progress;
  const isText = text !== "" || (state === "completed" && calls.length === 0);
  const count = calls.length + (isText ? 1 : 0);
  const stateOf = (number: number) => (number === count ? itemStateOf(progress) : "completed");
  const items: ResponseItem[] = isText ? [messageItem(jobId, text, stateOf(1))] : [];
  return items.concat(calls.map((call, index) => callItem(jobId, index, call, stateOf(index + items.length + 1))));
}

export function messageItem(jobId: string, text: string, status: ResponseItem["status"]) {
  const content = status === "in_progress" ? [] : [textPart(text)];
  return { id: itemIdOf(jobId), type: "message", status, role: "assistant", content } satisfies ResponseItem;
}

/** `index`: which call of the answer, from 0. */
export function callItem(jobId: string, index: number, call: ToolCall, status: ResponseItem["status"]) {
  const { name, arguments: args } = call.function;
  const id = `${jobId.replace(/^job_/, "fc_")}_${index}`;
  return { id, type: "function_call", status, call_id: call.id, name, arguments: args } satisfies ResponseItem;
}

export function textPart(text: string) {
  return { type: "output_text" as const, text, annotations: [], logprobs: [] };
}

export function itemStateOf({ state, isCut }: ResponseProgress): "completed" | "incomplete" {
  return state === "completed" && !isCut ? "completed" : "incomplete";
}

function statusOf({ state, isCut }: ResponseProgress): ResponseAnswer["status"] {
  switch (state) {
    case "pending":
    case "queued":
      return "queued";
    case "running":
      return "in_progress";
    case "completed":
      return isCut ? "incomplete" : "completed";
    case "cancelled":
      return "cancelled";
    case "failed":
    case "timeout":
      return "failed";
    default:
      return state satisfies never;
  }
}

function presentUsage(usage: Usage | null): ResponseAnswer["usage"] {
  if (usage === null) return null;
  const { promptTokens, completionTokens } = usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  };
}

import { z } from "@hono/zod-openapi";
import type { JobState } from "../../../shared/job-state.ts";
import type { Usage } from "../../../shared/output.ts";
import { reasoningFields } from "../../../shared/reasoning.ts";
import { probabilityFields } from "../../../shared/token-probability.ts";
import type { JobRecord } from "../../store/jobs/job-store.ts";
import { jobPartSchema, type JobPart, type OpenAiResponse } from "./schemas.ts";
import { EMPTY_TEXT, OutputRuns, presentRun, type ResponseItem } from "./output.ts";
import { presentTools, type NamespacedFunction } from "./tools.ts";
import { presentCredits, presentUnixTime } from "../../http/schemas/wire-units.ts";

/** Returns the job's id, which ends in the same characters as the response's; null for an id in another format. */
export function jobIdOf(responseId: string): string | null {
  return /^resp_\w+$/.test(responseId) ? responseId.replace(/^resp_/, "job_") : null;
}

/** Returns the part of a job's input that belongs to the response; null for a job of another endpoint. */
export function responsePartOf(job: Pick<JobRecord, "input">): JobPart["response"] | null {
  return jobPartSchema.safeParse(job.input).data?.response ?? null;
}

export function namespacedFunctionsOf(job: Pick<JobRecord, "input">): readonly NamespacedFunction[] {
  return responsePartOf(job)?.namespaced_functions ?? [];
}

const optionsSchema = z.object({ ...reasoningFields, ...probabilityFields });
type PresentedJob = Pick<JobRecord, "id" | "slug" | "input" | "createdAtMs">;

/** Returns the error code that OpenAI's clients know for a job's failure. */
function errorCodeOf(code: string): NonNullable<OpenAiResponse["error"]>["code"] {
  if (code === "context_length_exceeded") return code;
  return code === "invalid_input" ? "invalid_prompt" : "server_error";
}

export interface ResponseProgress {
  readonly state: JobState;
  readonly written: OutputRuns;
  readonly usage: Usage | null;
  readonly costMicro: number;
  readonly isCut: boolean;
  readonly failure: { readonly code: string; readonly message: string } | null;
}

export const BEGUN: ResponseProgress = {
  state: "running",
  written: new OutputRuns(),
  usage: null,
  costMicro: 0,
  isCut: false,
  failure: null,
};

export function presentResponse(job: PresentedJob, progress: ResponseProgress): OpenAiResponse {
  const part = responsePartOf(job);
  if (part === null) throw new Error(`${job.id} does not belong to a response`);
  const { system_prompt: instructions, max_tokens: maxTokens, temperature, top_p: topP } = job.input;
  const { reasoning_effort: effort, top_logprobs: topLogprobs } = optionsSchema.parse(job.input);
  const { state, failure, isCut } = progress;
  const isOver = state === "completed";
  return {
    id: job.id.replace(/^job_/, "resp_"),
    object: "response",
    created_at: presentUnixTime(job.createdAtMs),
    status: statusOf(progress),
    background: part.background,
    error: failure === null ? null : { code: errorCodeOf(failure.code), message: failure.message },
    incomplete_details: isOver && isCut ? { reason: "max_output_tokens" } : null,
    instructions: typeof instructions === "string" ? instructions : null,
    max_output_tokens: typeof maxTokens === "number" ? maxTokens : null,
    metadata: part.metadata,
    model: job.slug,
    output: outputItems(job.id, progress),
    ...presentTools(job.input),
    previous_response_id: part.previous_response_id,
    reasoning: { effort: effort ?? null, summary: null },
    store: part.store,
    temperature: typeof temperature === "number" ? temperature : null,
    text: { format: part.format },
    top_logprobs: topLogprobs ?? 0,
    top_p: typeof topP === "number" ? topP : null,
    truncation: "disabled",
    usage: presentUsage(progress),
  };
}

/** Presents the output. Its last item is incomplete unless the response completed. */
function outputItems(jobId: string, progress: ResponseProgress): ResponseItem[] {
  const { runs } = progress.written;
  const shown = runs.length === 0 && progress.state === "completed" ? [EMPTY_TEXT] : runs;
  const last = shown.length - 1;
  return shown.map((run, index) => presentRun(jobId, index, run, index === last ? itemStateOf(progress) : "completed"));
}

export function itemStateOf({ state, isCut }: ResponseProgress): "completed" | "incomplete" {
  return state === "completed" && !isCut ? "completed" : "incomplete";
}

function statusOf({ state, isCut }: ResponseProgress): OpenAiResponse["status"] {
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

function presentUsage({ usage, costMicro, written }: ResponseProgress): OpenAiResponse["usage"] {
  if (usage === null) return null;
  const { promptTokens, completionTokens } = usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: written.reasoningTokens },
    total_tokens: promptTokens + completionTokens,
    cost: presentCredits(costMicro),
  };
}

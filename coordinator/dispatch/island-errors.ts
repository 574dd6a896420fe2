import type { JobError, JobErrorCode } from "../../shared/errors.ts";
import type { IslandView } from "../islands/island.ts";
import type { ActiveJob } from "../jobs/active-job.ts";

/** Error messages for clients. The text that an Island sends is untrusted. */
const TEXTS: Readonly<Record<JobErrorCode, string>> = {
  wait_timeout: "No Island started the job in time",
  no_island_fits: "No Island can run the job",
  run_timeout: "The run took longer than its limit",
  island_lost: "The Island that had the job was lost",
  island_silent: "The Island showed no activity for too long",
  island_refused: "The Island does not accept jobs now",
  cannot_resume: "The Island was lost during output, and no other Island can continue this output",
  cargo_unavailable: "The Cargo is no longer available",
  invalid_input: "The Cargo cannot run this input",
  file_unavailable: "The Island could not fetch a file that the input names",
  invalid_output: "The Island's result is empty, does not match the request, or differs from its streamed output",
  // Clients recognize this error by Anthropic's text ("prompt is too long") or OpenAI's ("maximum context length").
  context_length_exceeded: "The prompt is too long for the model's maximum context length",
  model_unavailable: "The Island could not fetch the Cargo's model or image",
  model_hash_mismatch: "The file that the Island fetched is not the Cargo's model or image",
  disk_full: "The Island lacks disk space for the Cargo's model or image",
  model_invalid: "The Cargo's model or image cannot be loaded",
  manifest_untrusted: "The Island does not trust the Cargo's signature",
  out_of_memory: "The run needs more memory than the Island gives it",
  schema_unmet: "The output does not match the requested schema",
  output_too_large: "The job's output exceeds its limit",
  runtime_unavailable: "The Island cannot run this kind of Cargo now",
  runtime_crashed: "The process that ran the job ended unexpectedly",
  cargo_failed: "The Cargo's program failed",
  shutting_down: "The Island stopped before the job was done",
  internal: "The Island failed",
};

/**
 * Returns the error for output that violates a part of the schema that no grammar enforces. It is retryable, because
 * another attempt may match the schema.
 */
export function schemaUnmet(why: string): JobError {
  return { code: "schema_unmet", message: `${TEXTS.schema_unmet}: ${why}`, retryable: true };
}

export function islandLost(message: string): JobError {
  return { code: "island_lost", message, retryable: true };
}

/** Maximum length of an Island's text in an error for its owner. */
const MAX_QUOTED_CHARS = 1_000;

/**
 * Returns the job's error, with the coordinator's message for the code. The Island's own text is added only for a job
 * of the Island's owner, who debugs a Cargo or an Island.
 */
export function errorOf(
  { code, message, retryable }: Omit<JobError, "message"> & { readonly message?: string },
  job: Pick<ActiveJob, "accountId" | "cargo" | "traits">,
  island: Pick<IslandView, "accountId"> | undefined,
): JobError {
  const isForOwner = message !== undefined && island?.accountId === job.accountId;
  // PostgreSQL rejects JSON with NUL.
  const quoted = isForOwner ? message.replaceAll("\0", "").trim().slice(0, MAX_QUOTED_CHARS) : "";
  const text = code === "context_length_exceeded" ? describeTooLong(job, message ?? "") : TEXTS[code];
  return { code, message: quoted === "" ? text : `${text}. The Island says: ${quoted.toWellFormed()}`, retryable };
}

/** Matches the token count of the prompt and the model's limit in an agent's message. */
const TOKEN_COUNTS = /\bhas (\d{1,9}) tokens\b.*\bat most (\d{1,9})\b/;

/**
 * Returns a message with the Island's numbers, if plausible, in the format that clients parse in the vendors' texts.
 */
function describeTooLong({ cargo, traits }: Pick<ActiveJob, "cargo" | "traits">, text: string): string {
  const context = cargo?.contextTokens ?? null;
  if (context === null) return TEXTS.context_length_exceeded;
  const [, counted = 0, max = 0] = (TOKEN_COUNTS.exec(text.slice(0, MAX_QUOTED_CHARS)) ?? []).map(Number);
  const isPlausible = counted > max && max > 0 && max <= context && counted <= (traits?.maxPromptTokens ?? 0);
  const numbers = isPlausible ? `: ${counted} tokens > ${max} maximum` : "";
  return `The prompt is too long${numbers}. The model's maximum context length is ${context} tokens, for prompt and completion together`;
}

import type { JobError, JobErrorCode } from "../../shared/errors.ts";
import type { IslandView } from "../islands/island.ts";
import type { ActiveJob } from "../jobs/active-job.ts";

/** What clients read of a failure that an Island reports. An Island's own words could say anything, to anybody's client. */
const TEXTS: Readonly<Record<JobErrorCode, string>> = {
  wait_timeout: "No Island began the job in time",
  no_island_fits: "No Island can run the job",
  run_timeout: "The run took longer than its limit",
  island_lost: "The Island that had the job was lost",
  island_silent: "The Island gave no sign of life for too long",
  island_refused: "The Island takes no jobs now",
  cannot_resume: "The Island was lost in mid-output, and no other Island can continue this output",
  cargo_unavailable: "The Cargo is not available any more",
  invalid_input: "The Cargo cannot run this input",
  file_unavailable: "The Island could not fetch a file that the input names",
  invalid_output: "The Island's result is empty, not what was asked for, or differs from what it delivered",
  // Clients know the error by words of Anthropic's text ("prompt is too long") or of OpenAI's ("maximum context length").
  context_length_exceeded: "The prompt is too long for the model's maximum context length",
  model_unavailable: "The Island could not fetch the Cargo's model or image",
  model_hash_mismatch: "What the Island fetched is not the model or image that the Cargo names",
  disk_full: "The Island lacks disk space for the Cargo's model or image",
  model_invalid: "The Cargo's model or image cannot be loaded",
  manifest_untrusted: "The Island does not trust the Cargo's signature",
  out_of_memory: "The run needs more memory than the Island gives it",
  schema_unmet: "The answer is not valid by the schema that was asked for",
  output_too_large: "The job made more output than it can have",
  runtime_unavailable: "The Island cannot run this kind of Cargo now",
  runtime_crashed: "The process that ran the job ended early",
  cargo_failed: "The Cargo's program failed",
  shutting_down: "The Island stopped before the job was done",
  internal: "The Island failed",
};

/** Another try may do better: the model was free to write what the grammar could not exclude. */
export function schemaUnmet(why: string): JobError {
  return { code: "schema_unmet", message: `${TEXTS.schema_unmet}: ${why}`, retryable: true };
}

export function islandLost(message: string): JobError {
  return { code: "island_lost", message, retryable: true };
}

/** Longest words of an Island that its owner reads. */
const MAX_WORDS = 1_000;

/**
 * The error that a job gets for a failure that its Island reports: our text for the code. The Island's own words are added only for
 * a job of the Island's owner, who debugs a Cargo or an Island; every job of a Cargo that is not approved is one.
 */
export function errorOf(
  { code, message, retryable }: Omit<JobError, "message"> & { readonly message?: string },
  job: Pick<ActiveJob, "accountId" | "cargo" | "traits">,
  island: Pick<IslandView, "accountId"> | undefined,
): JobError {
  const isForOwner = message !== undefined && island?.accountId === job.accountId;
  // PostgreSQL reads no JSON that has NUL.
  const words = isForOwner ? message.replaceAll("\0", "").trim().slice(0, MAX_WORDS) : "";
  const text = code === "context_length_exceeded" ? describeTooLong(job, message ?? "") : TEXTS[code];
  return { code, message: words === "" ? text : `${text}. The Island says: ${words.toWellFormed()}`, retryable };
}

/** Finds the count of the prompt's tokens, and the most that the model takes, in an agent's message. */
const COUNTED = /\bhas (\d{1,9}) tokens\b.*\bat most (\d{1,9})\b/;

/** Gives the numbers where clients read them in the vendors' texts. Those of the Island are quoted only if they can be true. */
function describeTooLong({ cargo, traits }: Pick<ActiveJob, "cargo" | "traits">, words: string): string {
  const context = cargo?.contextTokens ?? null;
  if (context === null) return TEXTS.context_length_exceeded;
  const [, counted = 0, most = 0] = (COUNTED.exec(words.slice(0, MAX_WORDS)) ?? []).map(Number);
  const isPossible = counted > most && most > 0 && most <= context && counted <= (traits?.maxPromptTokens ?? 0);
  const numbers = isPossible ? `: ${counted} tokens > ${most} maximum` : "";
  return `The prompt is too long${numbers}. The model's maximum context length is ${context} tokens, for prompt and answer together`;
}

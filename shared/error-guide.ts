import type { ErrorCode, JobErrorCode } from "./errors.ts";

/**
 * Meaning of an error code, and what the client should do. `npm run generate` writes these to
 * docs/use/errors-and-limits.md.
 */
export interface ErrorGuide {
  readonly meaning: string;
  readonly action: string;
}

const RETRY = "Retry after `Retry-After`";

/** The codes of error responses. */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorGuide>> = {
  invalid_json: { meaning: "The body is not valid JSON", action: "Correct the body" },
  bad_request: { meaning: "The request cannot be read, or its token is not valid", action: "Follow the message" },
  unauthenticated: {
    meaning: "The API key, session token or Island token is missing, wrong, revoked or expired",
    action: "Send a valid key in `Authorization: Bearer`, or sign in again",
  },
  key_expired: {
    meaning: "The `expires_at` of the API key has passed",
    action: "Create another key, or change `expires_at` with a session",
  },
  insufficient_credits: {
    meaning: "The balance does not cover the hold: see `required_credits` and `balance_credits`",
    action:
      "Lower `max_tokens` of a chat, wait for unfinished jobs to release their holds, or ask the operator for credits",
  },
  key_credits_exceeded: {
    meaning: "The API key has spent its `credits_per_month`: see `remaining_credits` and `renews_at`",
    action: "Raise the limit of the key, or wait until `renews_at`",
  },
  insufficient_scope: {
    meaning:
      "The API key lacks the required scope; the key has limits, so it cannot manage keys; or registration is closed",
    action: "Use a key with the scope, or a session",
  },
  cargo_not_allowed: {
    meaning: "The Cargo is not in the API key's `cargos`",
    action: "Use another key, or add the Cargo to the key",
  },
  operator_only: { meaning: "Only a session of an operator may do this", action: "Sign in as an operator" },
  account_suspended: { meaning: "The operator suspended the account", action: "Contact the operator" },
  not_found: {
    meaning: "The path or id does not exist, or belongs to another account. A wrong method returns 405",
    action: "Check the path, the method and the id",
  },
  cargo_not_found: {
    meaning: "The Cargo does not exist or does not serve this endpoint",
    action: "Use a slug from `GET /cargos`",
  },
  model_not_found: {
    meaning: "Same as `cargo_not_found`, on the paths of OpenAI's and Anthropic's clients",
    action: "Use an id from `GET /models`",
  },
  content_removed: {
    meaning: "The content was deleted, or the operator's retention period has passed",
    action: "Submit the job again if you need the output",
  },
  payload_too_large: {
    meaning: "The body is larger than 1 MB, or a file is larger than allowed",
    action: "Send less, or upload a file",
  },
  file_budget_exceeded: {
    meaning: "The account has reached its limit on the number or total size of its files",
    action: "Delete files that you no longer need",
  },
  validation_failed: {
    meaning: "A field is invalid. `details` names each invalid field",
    action: "Correct the fields",
  },
  email_taken: { meaning: "An account with this address exists", action: "Sign in, or reset the password" },
  slug_taken: { meaning: "Another Cargo has or had this slug", action: "Choose another slug" },
  too_many_keys: {
    meaning: "The account has reached its limit of API keys",
    action: "Revoke a key and retry after a minute",
  },
  too_many_tokens: {
    meaning: "The account has reached its limit of Island tokens",
    action: "Revoke a token and retry after a minute",
  },
  too_many_codes: {
    meaning: "The account has reached its limit of pairing codes",
    action: "Use a code, or wait until one expires",
  },
  too_many_cargos: {
    meaning: "The account has reached its limit of Cargos, or of slugs it has ever used (deleted Cargos count)",
    action: "Delete a Cargo, or use an old slug again",
  },
  job_not_cancellable: {
    meaning: "The job or batch has ended",
    action: "Read its result, or remove a job's content with `DELETE /jobs/{id}/content`",
  },
  idempotency_conflict: {
    meaning: "The `Idempotency-Key` was used with another request",
    action: "Use a new key for a new request",
  },
  context_length_exceeded: {
    meaning: "The prompt is too long for the context of the model",
    action: "Shorten the prompt, or use a model with a larger `context_length`",
  },
  conversation_busy: {
    meaning: "Another message of the conversation is still being answered",
    action: "Wait for that answer",
  },
  file_in_use: {
    meaning: "An unfinished job or batch needs the file",
    action: "Wait for the job or batch, or cancel it",
  },
  position_lost: {
    meaning: "A coordinator crash lost output that was delivered before this event id",
    action: "Discard all earlier events and read the stream again without the id",
  },
  rate_limited: {
    meaning: "A limit was reached; `limit` names it",
    action: RETRY,
  },
  internal: {
    meaning: "An internal error of the coordinator",
    action: "Retry; if the error persists, give the operator the `request_id`",
  },
  job_failed: {
    meaning:
      "The job of the request failed; `job_error` gives its code. The status is 409 if it was cancelled, 503 if no Island could fetch the model",
    action: "Look up `job_error` below. Retry if `retryable` is true",
  },
  no_island_available: {
    meaning: "No Island started the job in time, or none can run it (`retryable: false`)",
    action: "If `retryable` is not false, retry after `Retry-After`; otherwise use another model",
  },
  overloaded: { meaning: "The coordinator has no capacity left for this response", action: RETRY },
  shutting_down: { meaning: "The coordinator is restarting", action: RETRY },
  storage_unavailable: { meaning: "The coordinator cannot store anything now", action: RETRY },
  disk_full: { meaning: "The coordinator's disk is full", action: "Contact the operator" },
  cluster_unavailable: { meaning: "The coordinator that owns the job cannot be reached", action: RETRY },
};

const SUBMIT_AGAIN = "Submit the job again";

/** The codes of jobs that failed or timed out. */
export const JOB_ERROR_GUIDE: Readonly<Record<JobErrorCode, ErrorGuide>> = {
  wait_timeout: {
    meaning: "No Island started the job within its wait limit; the message gives the reason",
    action: "Submit it later, or use a Cargo that more Islands can run",
  },
  no_island_fits: {
    meaning: "A client waited for the result, and every Island of the network lacks something that the job needs",
    action: "Use another Cargo; the message names what is missing",
  },
  run_timeout: { meaning: "The run took longer than its limit", action: "Request less output, or split the input" },
  island_lost: { meaning: "The last Island that was assigned the job was lost", action: SUBMIT_AGAIN },
  island_refused: { meaning: "The last Island refused the job after starting it", action: SUBMIT_AGAIN },
  island_silent: {
    meaning: "The last Island did not accept or start the job in time, or sent no output for too long",
    action: SUBMIT_AGAIN,
  },
  cannot_resume: {
    meaning: "The Island was lost during the output, and the next Island could not continue it",
    action: SUBMIT_AGAIN,
  },
  cargo_unavailable: {
    meaning: "The Cargo was deleted or disabled while the job waited",
    action: "Use another Cargo",
  },
  invalid_input: { meaning: "The Cargo cannot use this input", action: "Correct the input" },
  file_unavailable: {
    meaning: "The Island could not fetch a file of the input, or the file no longer exists",
    action: "Check the file with `GET /files/{id}` and submit the job again",
  },
  invalid_output: {
    meaning:
      "The Island's result was empty, differed from its stream, or lacked the requested format. Usually free of charge",
    action: SUBMIT_AGAIN,
  },
  context_length_exceeded: {
    meaning: "The input is longer than the context of the model",
    action: "Shorten the input, or use a model with a larger context",
  },
  model_unavailable: {
    meaning: "The Island could not fetch the model or image",
    action: "Submit the job later; if the error persists, contact the operator",
  },
  model_hash_mismatch: {
    meaning: "The bytes of the fetched model or image do not match the hash in the Cargo",
    action: "Contact the operator",
  },
  model_invalid: {
    meaning: "The model or image cannot be loaded",
    action: "Contact the operator or owner of the Cargo",
  },
  disk_full: { meaning: "The Island has too little disk space for the model or image", action: SUBMIT_AGAIN },
  manifest_untrusted: {
    meaning: "The Island does not trust the signature of the Cargo",
    action: "Contact the operator",
  },
  out_of_memory: {
    meaning: "The run needs more memory than the Island grants",
    action: "Use a smaller input or Cargo, or submit the job again",
  },
  output_too_large: {
    meaning: "The job produced more output than allowed, or the output of unfinished jobs filled the memory",
    action: "Request less output, or run fewer jobs at once",
  },
  schema_unmet: {
    meaning:
      "The output is complete, but breaks a rule of your JSON schema that is validated afterwards; the message says where. The output was charged",
    action: "Simplify the schema. Another attempt may succeed, and is charged too; clients do not retry it",
  },
  runtime_unavailable: { meaning: "The Island cannot run this kind of Cargo now", action: SUBMIT_AGAIN },
  runtime_crashed: { meaning: "The process that ran the job ended unexpectedly", action: SUBMIT_AGAIN },
  cargo_failed: {
    meaning: "The program of the Cargo failed",
    action: "Check the input; contact the owner of the Cargo",
  },
  shutting_down: { meaning: "The last Island stopped before the job was done", action: SUBMIT_AGAIN },
  internal: {
    meaning: "An internal error of the Island or the coordinator",
    action: "Submit the job again, or contact the operator",
  },
};

# Generated from the coordinator's OpenAPI document by `npm run generate`. Not for editing.
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class JobWebhook(TypedDict):
    type: Literal["job.completed", "job.failed", "job.cancelled", "job.timeout"]
    timestamp: str
    """Time in UTC, as ISO 8601"""
    data: JobWebhookData


class JobWebhookData(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    priority: int
    trust: Literal["any", "proven", "own"]
    """Islands that may run the job: the strictest demand of request, API key and Cargo"""
    audit: Literal["default", "never"]
    """`never`: no other Island may read the answer for an audit"""
    input_removed_at: str | None
    """When the input was removed, by its owner or at the end of the retention period; null while it is stored"""
    output_removed_at: str | None
    """When the output, the stream and the error message were removed; null while they are stored"""
    output: NotRequired[Any]
    """Text, or the JSON value that the Cargo produced; null until the job is completed"""
    usage: Usage | None
    """Usage of the job; null until it has ended"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    started_at: str | None
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""
    duration_ms: int | None
    """Time from start to end; null until the job has ended, or if it never started"""
    finish_reason: Literal["stop", "length", "tool_calls", None]
    error: JobWebhookDataError | None
    attempts: int
    """Number of attempts so far; an assignment that the Island refused does not count"""
    island_id: str | None
    timings: JobWebhookDataTimings | None
    batch_id: str | None
    ignored: list[str]
    """Paths of the request's ignored parameters, as in the header `Atoll-Ignored`"""
    output_omitted: bool
    """The output is too large for a webhook; read it from GET /jobs/{id}"""


class JobWebhookDataError(TypedDict):
    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]
    message: str
    retryable: bool


class JobWebhookDataTimings(TypedDict):
    load_ms: float
    """Time to download and load the model; 0 if it was in memory"""
    first_output_ms: float | None
    """Time from the load to the first output; null without output"""
    run_ms: float
    """Time from the load to the end of the run"""


class Usage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    credits_used: float
    """Credits, with up to 6 decimals"""


class BatchWebhook(TypedDict):
    type: Literal["batch.finished"]
    timestamp: str
    """Time in UTC, as ISO 8601"""
    data: BatchWebhookData


class BatchWebhookData(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    """`pending` means that no job has started. `failed` means that all jobs have ended and at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """Jobs, in the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """`output_offset` of the next request, present only with `include=output`; null if there are no further outputs"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""


class BatchCounts(TypedDict):
    pending: int
    queued: int
    running: int
    completed: int
    failed: int
    cancelled: int
    timeout: int
    total: int


class BatchJob(TypedDict):
    id: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    output: NotRequired[Any]
    """Output of the job, present only with `include=output` and from job `output_offset` on. Null if the job is not completed, or its output was removed or omitted"""
    error: NotRequired[BatchJobError | None]
    """Why the job failed or timed out; present only with `include=output`"""
    output_omitted: NotRequired[Literal[True]]
    """Present if the output has more than 65536 characters as JSON. Read it from GET /jobs/{id}"""


class BatchJobError(TypedDict):
    """Why the job failed or timed out; present only with `include=output`"""

    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]
    message: str
    retryable: bool


class Health(TypedDict):
    status: Literal["ok", "degraded"]
    version: str
    checks: HealthChecks


class HealthChecks(TypedDict):
    store: Literal["ok", "read_only", "failing"]
    """`read_only` means that writes are refused, because the disk is full, another process writes, or the database is unreachable"""
    bus: NotRequired[Literal["ok", "down"]]
    """Present only with several coordinators. `down` means that the others are unreachable; this coordinator's own jobs and Islands continue"""


class SubmittedJob(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["submitted"]
    input: dict[str, Any]
    created_at: str
    """Time in UTC, as ISO 8601"""
    webhook_secret: NotRequired[str]
    """The generated webhook secret, returned only here and in repeats with the same `Idempotency-Key`"""


class SubmitJob(TypedDict):
    workload: str
    """Cargo slug"""
    input: dict[str, Any]
    """Parameters of the job; the Cargo's `input_schema` defines them"""
    priority: NotRequired[int]
    """Order of the account's jobs: a higher priority starts earlier and may cost more"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""
    webhook_url: NotRequired[str]
    """URL that receives a signed POST (Standard Webhooks) when the job or batch ends. Must be https and not a private address"""
    webhook_secret: NotRequired[str]
    """Secret that signs the POST: `whsec_` and 24 to 64 bytes in base64. Default: a generated secret, which only this response contains"""


class ListedJob(TypedDict):
    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    created_at: str
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""
    batch_id: str | None
    workload_id: int
    input: dict[str, Any] | None
    """Null if the input is longer than 4 KB; empty after its removal"""


class JobSummary(TypedDict):
    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    created_at: str
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""
    batch_id: str | None


class Job(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    priority: int
    trust: Literal["any", "proven", "own"]
    """Islands that may run the job: the strictest demand of request, API key and Cargo"""
    audit: Literal["default", "never"]
    """`never`: no other Island may read the answer for an audit"""
    input: dict[str, Any]
    """Input of the job; empty after its removal"""
    input_removed_at: str | None
    """When the input was removed, by its owner or at the end of the retention period; null while it is stored"""
    output_removed_at: str | None
    """When the output, the stream and the error message were removed; null while they are stored"""
    output: NotRequired[Any]
    """Text, or the JSON value that the Cargo produced; null until the job is completed"""
    usage: Usage | None
    """Usage of the job; null until it has ended"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    started_at: str | None
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""
    duration_ms: int | None
    """Time from start to end; null until the job has ended, or if it never started"""
    finish_reason: Literal["stop", "length", "tool_calls", None]
    error: JobError | None
    attempts: int
    """Number of attempts so far; an assignment that the Island refused does not count"""
    island_id: str | None
    waiting: Waiting | None
    placement: Placement | None
    timings: JobTimings | None
    batch_id: str | None
    ignored: list[str]
    """Paths of the request's ignored parameters, as in the header `Atoll-Ignored`"""
    webhook: WebhookLog | None
    verification: Verification | None


class JobError(TypedDict):
    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]
    message: str
    retryable: bool


class JobTimings(TypedDict):
    load_ms: float
    """Time to download and load the model; 0 if it was in memory"""
    first_output_ms: float | None
    """Time from the load to the first output; null without output"""
    run_ms: float
    """Time from the load to the end of the run"""


class Waiting(TypedDict):
    """Why the job has not started or has no output yet; null for any other job"""

    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    position: int
    """Position in the queue of the job's Cargo; the job at position 1 is next"""
    message: str
    """The reason as a sentence"""
    percent: int | None
    """Progress of the model's download in percent, if it is known"""
    phase: Literal["accept", "start", "first_output", "silence", None]
    """What the assigned Island must do before the job runs; null while no Island is assigned"""


class Placement(TypedDict):
    """Why the Island of the current attempt was chosen, from the memory of its coordinator. Null without an operator's session, without a choice, for all but the coordinator's latest 2,000 jobs, and for ended jobs of other coordinators"""

    reason: Literal["cost", "trial", None]
    """`cost`: the Island's cost was lowest, or close to it. `trial`: to measure the Island"""
    island_id: str | None
    """The chosen Island"""
    candidates: list[CandidateCost]
    """The Islands that were compared, the cheapest first"""
    reserved_island_id: str | None
    """The busy Island of which a slot is reserved for the waiting job"""


class CandidateCost(TypedDict):
    island_id: str
    cost_ms: int
    """Expected cost: (the sum of the times + `slowdown_ms`) * `risk`"""
    wait_ms: int
    """Time until a slot is free"""
    load_ms: int
    """Time to download and load the model"""
    read_ms: int
    """Time to read the prompt, or to run a job without tokens"""
    write_ms: int
    """Time to generate the output"""
    rtt_ms: int
    """Round trip to the Island"""
    slowdown_ms: int
    """Delay of the jobs that already run there"""
    risk: float
    """Factor for the Island's failures, at least 1"""
    cached_tokens: int
    """Prompt tokens that are expected to be in the Island's cache"""


class WebhookLog(TypedDict):
    url: str
    state: Literal["waiting", "pending", "delivered", "failed"]
    """`waiting`: the job or batch has not ended. `pending`: it is not delivered yet. `failed`: delivery was abandoned after a day or after a 410"""
    attempts: list[WebhookLogAttemptsItem]
    """The ten most recent delivery attempts, oldest first"""


class WebhookLogAttemptsItem(TypedDict):
    at: str
    """Time in UTC, as ISO 8601"""
    status: int | None
    """HTTP status; null if the receiver sent none"""
    error: str | None


class Verification(TypedDict):
    """Audit of the answer by Islands of other owners. Null before the end of the job, if its Island's owner was paid at once, and 90 days after the end"""

    verdict: Literal["not_chosen", "pending", "consistent", "inconsistent", "unclear"]
    """`not_chosen`: the job was not chosen for an audit. `pending`: the audit has not ended. `consistent`: the answer is one that the model gives. `inconsistent`: it is not. `unclear`: no reader was found, or the readers could not judge"""
    readers: int
    """Number of readings of the answer by Islands of other owners"""
    refunded: bool
    """Whether the client got the whole charge back"""


class SubmittedBatch(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    """`pending` means that no job has started. `failed` means that all jobs have ended and at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """Jobs, in the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """`output_offset` of the next request, present only with `include=output`; null if there are no further outputs"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""
    webhook: WebhookLog | None
    webhook_secret: NotRequired[str]
    """The generated webhook secret, returned only here and in repeats with the same `Idempotency-Key`"""


class Batch(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    """`pending` means that no job has started. `failed` means that all jobs have ended and at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """Jobs, in the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """`output_offset` of the next request, present only with `include=output`; null if there are no further outputs"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""
    webhook: WebhookLog | None


class SubmitBatch(TypedDict):
    workload: str
    """Cargo slug"""
    inputs: list[dict[str, Any]]
    """Inputs, each of which becomes a job"""
    priority: NotRequired[int]
    """Order of the account's jobs: a higher priority starts earlier and may cost more"""
    fail_mode: NotRequired[Literal["best_effort", "fail_fast"]]
    """With `fail_fast`, the first job that fails or times out cancels the others. With `best_effort`, all jobs run"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""
    webhook_url: NotRequired[str]
    """URL that receives a signed POST (Standard Webhooks) when the job or batch ends. Must be https and not a private address"""
    webhook_secret: NotRequired[str]
    """Secret that signs the POST: `whsec_` and 24 to 64 bytes in base64. Default: a generated secret, which only this response contains"""


class JobOutput(TypedDict):
    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    output: NotRequired[Any]
    """Text so far, the most recent image as `{format, data}`, or the whole output of a completed job; null before any output"""
    is_complete: bool
    """Whether the job is completed and `output` is the whole output"""
    tokens: int
    """Number of model tokens delivered"""
    progress: JobOutputProgress | None
    """Most recent progress that the Cargo reported; null if it reported none"""
    usage: Usage | None
    """Usage of the job; null until it has ended"""


class JobOutputProgress(TypedDict):
    """Most recent progress that the Cargo reported; null if it reported none"""

    step: int
    total: int


JobEvent: TypeAlias = "StatusEvent | TokenEvent | ReasoningEvent | ToolCallEvent | ProgressEvent | ImageEvent | DoneEvent | ErrorEvent"


class StatusEvent(TypedDict):
    """A change of state. Until there is output, the current state is sent immediately and then every 5 s, with a `message` that says why the job waits. These repeats reuse the previous event's id"""

    type: Literal["status"]
    state: Literal["pending", "queued", "running", "streaming"]
    """`streaming` means that output follows"""
    message: NotRequired[str]
    """Why there is no output yet"""
    percent: NotRequired[int]
    """Progress of the model's download in percent, if it is known"""


class TokenEvent(TypedDict):
    type: Literal["token"]
    content: str
    """Text to append"""


class ReasoningEvent(TypedDict):
    """Reasoning that the model wrote before its completion"""

    type: Literal["reasoning"]
    content: str
    """Reasoning to append"""


class ToolCallEvent(TypedDict):
    """A part of a tool call"""

    type: Literal["tool_call"]
    index: int
    """Index of the tool call in the completion, starting at 0"""
    id: NotRequired[str]
    """Id of the tool call, only in its first part"""
    name: NotRequired[str]
    """Name of the tool, only in the first part of the call"""
    arguments: str
    """JSON text to append to the arguments"""


class ProgressEvent(TypedDict):
    type: Literal["progress"]
    step: int
    total: int


class ImageEvent(TypedDict):
    type: Literal["image"]
    data: str
    format: str


class DoneEvent(TypedDict):
    type: Literal["done"]
    usage: Usage
    finish_reason: Literal["stop", "length", "tool_calls"]
    output: NotRequired[Any]
    """Output of the job, unless it is text that was already streamed"""


class ErrorEvent(TypedDict):
    type: Literal["error"]
    error: str
    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal", "cancelled"]
    retryable: bool
    """Whether another attempt may succeed"""


class ChatCompletion(TypedDict):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatCompletionChoicesItem]
    usage: ChatCompletionUsage


class ChatCompletionChoicesItem(TypedDict):
    index: int
    message: ChatCompletionChoicesItemMessage
    logprobs: ChatCompletionChoicesItemLogprobs | None
    finish_reason: Literal["stop", "length", "tool_calls"]


class ChatCompletionChoicesItemMessage(TypedDict):
    role: Literal["assistant"]
    content: str | None
    """Text of the completion; null if it has only tool calls"""
    reasoning_content: NotRequired[str]
    """Reasoning of a Cargo that supports it"""
    tool_calls: NotRequired[list[ChatCompletionChoicesItemMessageToolCallsItem]]


class ChatCompletionChoicesItemMessageToolCallsItem(TypedDict):
    id: str
    type: Literal["function"]
    function: ChatCompletionChoicesItemMessageToolCallsItemFunction


class ChatCompletionChoicesItemMessageToolCallsItemFunction(TypedDict):
    name: str
    arguments: str
    """JSON text"""


class ChatCompletionChoicesItemLogprobs(TypedDict):
    content: list[ChatCompletionChoicesItemLogprobsContentItem]
    refusal: None


class ChatCompletionChoicesItemLogprobsContentItem(TypedDict):
    token: str
    logprob: float
    """Natural logarithm of the probability, before temperature, penalties and grammars"""
    bytes: list[int] | None
    top_logprobs: list[ChatCompletionChoicesItemLogprobsContentItemTopLogprobsItem]


class ChatCompletionChoicesItemLogprobsContentItemTopLogprobsItem(TypedDict):
    token: str
    logprob: float
    """Natural logarithm of the probability, before temperature, penalties and grammars"""
    bytes: list[int] | None


class ChatCompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cost: float
    """Credits that were charged, with up to 6 decimals"""
    completion_tokens_details: NotRequired[ChatCompletionUsageCompletionTokensDetails]
    """Present for completions with reasoning, whose tokens count as completion_tokens"""


class ChatCompletionUsageCompletionTokensDetails(TypedDict):
    """Present for completions with reasoning, whose tokens count as completion_tokens"""

    reasoning_tokens: int


ChatCompletionEvent: TypeAlias = "ChatCompletionChunk | ChatCompletionError | Literal[\"[DONE]\"]"


class ChatCompletionChunk(TypedDict):
    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChatCompletionChunkChoicesItem]
    """Choices; empty in the chunk that has `usage`"""
    usage: NotRequired[ChatCompletionChunkUsage]


class ChatCompletionChunkChoicesItem(TypedDict):
    index: int
    delta: ChatCompletionChunkChoicesItemDelta
    logprobs: ChatCompletionChunkChoicesItemLogprobs | None
    finish_reason: Literal["stop", "length", "tool_calls", None]


class ChatCompletionChunkChoicesItemDelta(TypedDict):
    role: NotRequired[Literal["assistant"]]
    content: NotRequired[str]
    reasoning_content: NotRequired[str]
    tool_calls: NotRequired[list[ChatCompletionChunkChoicesItemDeltaToolCallsItem]]


class ChatCompletionChunkChoicesItemDeltaToolCallsItem(TypedDict):
    index: int
    id: NotRequired[str]
    type: NotRequired[Literal["function"]]
    function: ChatCompletionChunkChoicesItemDeltaToolCallsItemFunction


class ChatCompletionChunkChoicesItemDeltaToolCallsItemFunction(TypedDict):
    name: NotRequired[str]
    arguments: str


class ChatCompletionChunkChoicesItemLogprobs(TypedDict):
    content: list[ChatCompletionChunkChoicesItemLogprobsContentItem]
    refusal: None


class ChatCompletionChunkChoicesItemLogprobsContentItem(TypedDict):
    token: str
    logprob: float
    """Natural logarithm of the probability, before temperature, penalties and grammars"""
    bytes: list[int] | None
    top_logprobs: list[ChatCompletionChunkChoicesItemLogprobsContentItemTopLogprobsItem]


class ChatCompletionChunkChoicesItemLogprobsContentItemTopLogprobsItem(TypedDict):
    token: str
    logprob: float
    """Natural logarithm of the probability, before temperature, penalties and grammars"""
    bytes: list[int] | None


class ChatCompletionChunkUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cost: float
    """Credits that were charged, with up to 6 decimals"""
    completion_tokens_details: NotRequired[ChatCompletionChunkUsageCompletionTokensDetails]
    """Present for completions with reasoning, whose tokens count as completion_tokens"""


class ChatCompletionChunkUsageCompletionTokensDetails(TypedDict):
    """Present for completions with reasoning, whose tokens count as completion_tokens"""

    reasoning_tokens: int


class ChatCompletionError(TypedDict):
    """Last line of a stream whose job failed after output began; no `[DONE]` follows"""

    error: ChatCompletionErrorError


class ChatCompletionErrorError(TypedDict):
    message: str
    type: Literal["server_error", "invalid_request_error"]
    param: None
    code: str
    retryable: bool
    """Whether another attempt may succeed"""


class ChatCompletionRequest(TypedDict):
    model: NotRequired[str | None]
    """Slug or alias of a chat Cargo. Default: the operator's default chat Cargo"""
    messages: list[ChatCompletionRequestMessagesItem]
    """At most 16384 parts in total"""
    max_completion_tokens: NotRequired[int | None]
    """Newer name for `max_tokens`; takes precedence over it"""
    max_tokens: NotRequired[int | None]
    """Default 1024. Values above the Cargo's context are lowered to it, or to 4096 if that is more"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[str] | None]
    seed: NotRequired[int | None]
    """The same seed gives the same completion on the same engine and model"""
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: no limit"""
    min_p: NotRequired[float | None]
    repeat_penalty: NotRequired[float | None]
    """Divides the logits of tokens already in the completion; 1: no penalty"""
    logit_bias: NotRequired[dict[str, float] | None]
    """By ids of the model's own vocabulary, at most 300; -100 excludes a token"""
    response_format: NotRequired[ChatCompletionRequestResponseFormat1 | ChatCompletionRequestResponseFormat2 | ChatCompletionRequestResponseFormat3 | None]
    tools: NotRequired[list[ChatCompletionRequestToolsItem1 | ChatCompletionRequestToolsItem2] | None]
    """Functions, at most 256 KB in total"""
    tool_choice: NotRequired[Literal["auto", "none", "required"] | ChatCompletionRequestToolChoice2 | ChatCompletionRequestToolChoice3 | None]
    """Or a function by its name, or `allowed_tools`"""
    parallel_tool_calls: NotRequired[bool | None]
    """Default true: up to 16 tool calls; a named function is called once"""
    logprobs: NotRequired[bool | None]
    """Return log probabilities of text tokens, before temperature, penalties and grammars"""
    top_logprobs: NotRequired[int | None]
    """`max_tokens` × (`top_logprobs` + 1) may be at most 100000"""
    reasoning_effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", None]]
    """Effort of reasoning. A Cargo without reasoning ignores it, and `Atoll-Ignored` names it"""
    n: NotRequired[int | None]
    """Number of choices. Each choice is a separate job; the jobs run one after the other, even in a stream. If a job fails, the earlier ones are still charged"""
    stream_options: NotRequired[ChatCompletionRequestStreamOptions | None]
    usage: NotRequired[ChatCompletionRequestUsage | None]
    """OpenRouter's equivalent of `stream_options.include_usage`"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class ChatCompletionRequestMessagesItem(TypedDict):
    role: Literal["system", "user", "assistant", "tool", "developer"]
    content: NotRequired[str | list[ChatCompletionRequestMessagesItemContentItem1 | ChatCompletionRequestMessagesItemContentItem2] | None]
    """Text, or a list of parts; text parts are joined"""
    tool_calls: NotRequired[list[ChatCompletionRequestMessagesItemToolCallsItem] | None]
    """Tool calls of the assistant"""
    tool_call_id: NotRequired[str | None]
    """Id of the tool call that this `tool` message answers"""


class ChatCompletionRequestMessagesItemContentItem1(TypedDict):
    type: Literal["text"]
    """`text` or `image_url`; other types are refused"""
    text: str


class ChatCompletionRequestMessagesItemContentItem2(TypedDict):
    type: Literal["image_url"]
    image_url: ChatCompletionRequestMessagesItemContentItem2ImageUrl
    """Only in `user` messages"""


class ChatCompletionRequestMessagesItemContentItem2ImageUrl(TypedDict):
    """Only in `user` messages"""

    url: str
    """A data URL, or an https address, which the coordinator downloads. At most 16 images of together 3.0 MiB in a request"""


class ChatCompletionRequestMessagesItemToolCallsItem(TypedDict):
    id: str
    type: Literal["function"]
    function: ChatCompletionRequestMessagesItemToolCallsItemFunction


class ChatCompletionRequestMessagesItemToolCallsItemFunction(TypedDict):
    name: str
    arguments: str
    """JSON text"""


class ChatCompletionRequestResponseFormat1(TypedDict):
    type: Literal["text"]


class ChatCompletionRequestResponseFormat2(TypedDict):
    type: Literal["json_object"]
    schema: NotRequired[dict[str, Any] | None]
    """Not part of OpenAI's API. With a schema, `json_object` works like `json_schema`"""


class ChatCompletionRequestResponseFormat3(TypedDict):
    type: Literal["json_schema"]
    json_schema: ChatCompletionRequestResponseFormat3JsonSchema


class ChatCompletionRequestResponseFormat3JsonSchema(TypedDict):
    name: NotRequired[str]
    """Used only in error messages"""
    schema: dict[str, Any]
    """A JSON Schema"""
    strict: NotRequired[bool | None]
    """Validate afterwards the keywords that the grammar cannot enforce"""


class ChatCompletionRequestToolsItem1(TypedDict):
    type: Literal["function"]
    function: ChatCompletionRequestToolsItem1Function


class ChatCompletionRequestToolsItem1Function(TypedDict):
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """JSON Schema of the arguments, an object"""
    strict: NotRequired[bool | None]
    """Arguments must match `parameters`; otherwise the job fails with `schema_unmet`"""


class ChatCompletionRequestToolsItem2(TypedDict):
    """Not offered to the model"""

    type: str


class ChatCompletionRequestToolChoice2(TypedDict):
    type: Literal["function"]
    function: ChatCompletionRequestToolChoice2Function


class ChatCompletionRequestToolChoice2Function(TypedDict):
    name: str


class ChatCompletionRequestToolChoice3(TypedDict):
    type: Literal["allowed_tools"]
    allowed_tools: ChatCompletionRequestToolChoice3AllowedTools


class ChatCompletionRequestToolChoice3AllowedTools(TypedDict):
    mode: Literal["auto", "required"]
    tools: list[ChatCompletionRequestToolChoice3AllowedToolsToolsItem]


class ChatCompletionRequestToolChoice3AllowedToolsToolsItem(TypedDict):
    type: Literal["function"]
    function: ChatCompletionRequestToolChoice3AllowedToolsToolsItemFunction


class ChatCompletionRequestToolChoice3AllowedToolsToolsItemFunction(TypedDict):
    name: str


class ChatCompletionRequestStreamOptions(TypedDict):
    include_usage: NotRequired[bool | None]


class ChatCompletionRequestUsage(TypedDict):
    """OpenRouter's equivalent of `stream_options.include_usage`"""

    include: NotRequired[bool | None]


class TextCompletion(TypedDict):
    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextCompletionChoicesItem]
    usage: NotRequired[TextCompletionUsage]
    """Usage; in a stream only in the last chunk, and only if requested"""


class TextCompletionChoicesItem(TypedDict):
    index: int
    text: str
    logprobs: None
    finish_reason: Literal["stop", "length", "tool_calls", None]


class TextCompletionUsage(TypedDict):
    """Usage; in a stream only in the last chunk, and only if requested"""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cost: float
    """Credits that were charged, with up to 6 decimals"""


TextCompletionEvent: TypeAlias = "TextCompletion | ChatCompletionError | Literal[\"[DONE]\"]"


class TextCompletionRequest(TypedDict):
    model: str
    """Slug or alias of a chat Cargo"""
    prompt: str | list[str]
    """Text that the model continues without its chat template. Each text of a list is a separate job, and four run at once. Lists of token ids are refused"""
    max_tokens: NotRequired[int | None]
    """Maximum number of generated tokens, lowered to what the Cargo can generate. Default: 16"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[str] | None]
    seed: NotRequired[int | None]
    """The same seed gives the same completion on the same engine and model"""
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: no limit"""
    min_p: NotRequired[float | None]
    repeat_penalty: NotRequired[float | None]
    """Divides the logits of tokens already in the completion; 1: no penalty"""
    logit_bias: NotRequired[dict[str, float] | None]
    """By ids of the model's own vocabulary, at most 300; -100 excludes a token"""
    echo: NotRequired[bool | None]
    """Whether each text begins with its prompt"""
    stream: NotRequired[bool | None]
    """Whether the response is a stream; allowed only with one prompt"""
    stream_options: NotRequired[TextCompletionRequestStreamOptions | None]
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class TextCompletionRequestStreamOptions(TypedDict):
    include_usage: NotRequired[bool | None]


class AnthropicMessage(TypedDict):
    id: str
    type: Literal["message"]
    role: Literal["assistant"]
    model: str
    content: list[AnthropicMessageContentItem1 | AnthropicMessageContentItem2 | AnthropicMessageContentItem3]
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "tool_use", None]
    """`end_turn` is also returned if a stop sequence ended the response and the Island did not report which one"""
    stop_sequence: str | None
    usage: AnthropicMessageUsage


class AnthropicMessageContentItem1(TypedDict):
    type: Literal["thinking"]
    thinking: str
    signature: str
    """Always empty"""


class AnthropicMessageContentItem2(TypedDict):
    type: Literal["text"]
    text: str


class AnthropicMessageContentItem3(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class AnthropicMessageUsage(TypedDict):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: None
    cache_read_input_tokens: None
    cost: NotRequired[float]
    """Credits that were charged; absent in `message_start`"""


class AnthropicMessageEvent1(TypedDict):
    type: Literal["message_start"]
    message: AnthropicMessage


class AnthropicMessageEvent2(TypedDict):
    type: Literal["ping"]


class AnthropicMessageEvent3(TypedDict):
    type: Literal["content_block_start"]
    index: int
    content_block: AnthropicMessageEvent3ContentBlock1 | AnthropicMessageEvent3ContentBlock2 | AnthropicMessageEvent3ContentBlock3


class AnthropicMessageEvent3ContentBlock1(TypedDict):
    type: Literal["thinking"]
    thinking: str
    signature: str
    """Always empty"""


class AnthropicMessageEvent3ContentBlock2(TypedDict):
    type: Literal["text"]
    text: str


class AnthropicMessageEvent3ContentBlock3(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class AnthropicMessageEvent4(TypedDict):
    type: Literal["content_block_delta"]
    index: int
    delta: AnthropicMessageEvent4Delta1 | AnthropicMessageEvent4Delta2 | AnthropicMessageEvent4Delta3 | AnthropicMessageEvent4Delta4


class AnthropicMessageEvent4Delta1(TypedDict):
    type: Literal["text_delta"]
    text: str


class AnthropicMessageEvent4Delta2(TypedDict):
    type: Literal["thinking_delta"]
    thinking: str


class AnthropicMessageEvent4Delta3(TypedDict):
    type: Literal["signature_delta"]
    signature: str


class AnthropicMessageEvent4Delta4(TypedDict):
    type: Literal["input_json_delta"]
    partial_json: str


class AnthropicMessageEvent5(TypedDict):
    type: Literal["content_block_stop"]
    index: int


class AnthropicMessageEvent6(TypedDict):
    type: Literal["message_delta"]
    delta: AnthropicMessageEvent6Delta
    usage: AnthropicMessageEvent6Usage


class AnthropicMessageEvent6Delta(TypedDict):
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "tool_use"]
    stop_sequence: str | None


class AnthropicMessageEvent6Usage(TypedDict):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: None
    cache_read_input_tokens: None
    cost: NotRequired[float]
    """Credits that were charged; absent in `message_start`"""


class AnthropicMessageEvent7(TypedDict):
    type: Literal["message_stop"]


class AnthropicMessageEvent8(TypedDict):
    type: Literal["error"]
    error: AnthropicMessageEvent8Error


class AnthropicMessageEvent8Error(TypedDict):
    type: str
    message: str
    code: str
    retryable: bool


AnthropicMessageEvent: TypeAlias = "AnthropicMessageEvent1 | AnthropicMessageEvent2 | AnthropicMessageEvent3 | AnthropicMessageEvent4 | AnthropicMessageEvent5 | AnthropicMessageEvent6 | AnthropicMessageEvent7 | AnthropicMessageEvent8"


class MessageRequest(TypedDict):
    model: str
    """Slug or alias of a chat Cargo"""
    messages: list[MessageRequestMessagesItem]
    """At most 16384 parts in total"""
    system: NotRequired[str | list[MessageRequestSystemItem] | None]
    """Text, or a list of text blocks, which are joined"""
    tools: NotRequired[list[MessageRequestToolsItem1 | MessageRequestToolsItem2] | None]
    """Client tools, at most 256 KB in total; built-in tools are not offered to the model"""
    tool_choice: NotRequired[MessageRequestToolChoice1 | MessageRequestToolChoice2 | MessageRequestToolChoice3 | MessageRequestToolChoice4 | None]
    thinking: NotRequired[MessageRequestThinking1 | MessageRequestThinking2 | MessageRequestThinking3 | None]
    """Reasoning, which is off by default. Cargos without reasoning ignore `enabled`"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""
    max_tokens: int
    """Values above the Cargo's context are lowered to it, or to 4096 if that is more"""
    temperature: NotRequired[float | None]
    """Default 1"""
    top_p: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: no limit"""
    stop_sequences: NotRequired[list[str] | None]
    stream: NotRequired[bool | None]
    output_config: NotRequired[MessageRequestOutputConfig | None]


class MessageRequestMessagesItem(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str | list[MessageRequestMessagesItemContentItem1 | MessageRequestMessagesItemContentItem2 | MessageRequestMessagesItemContentItem3 | MessageRequestMessagesItemContentItem4 | MessageRequestMessagesItemContentItem5 | MessageRequestMessagesItemContentItem6]
    """Text, or a list of blocks, of which the text blocks are joined"""


class MessageRequestMessagesItemContentItem1(TypedDict):
    type: Literal["text"]
    text: str


class MessageRequestMessagesItemContentItem2(TypedDict):
    type: Literal["image"]
    source: MessageRequestMessagesItemContentItem2Source1 | MessageRequestMessagesItemContentItem2Source2
    """Only in `user` messages"""


class MessageRequestMessagesItemContentItem2Source1(TypedDict):
    type: Literal["base64"]
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: str


class MessageRequestMessagesItemContentItem2Source2(TypedDict):
    type: Literal["url"]
    url: str
    """A data URL, or an https address, which the coordinator downloads. At most 16 images of together 3.0 MiB in a request"""


class MessageRequestMessagesItemContentItem3(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class MessageRequestMessagesItemContentItem4(TypedDict):
    type: Literal["tool_result"]
    tool_use_id: str
    content: NotRequired[str | list[MessageRequestMessagesItemContentItem4ContentItem] | None]
    """Text, or text blocks"""


class MessageRequestMessagesItemContentItem4ContentItem(TypedDict):
    type: Literal["text"]
    text: str


class MessageRequestMessagesItemContentItem5(TypedDict):
    type: Literal["thinking"]


class MessageRequestMessagesItemContentItem6(TypedDict):
    type: Literal["redacted_thinking"]


class MessageRequestSystemItem(TypedDict):
    type: Literal["text"]
    text: str


class MessageRequestToolsItem1(TypedDict):
    type: NotRequired[Literal["custom"]]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Description of the tool, which is part of the prompt"""
    input_schema: dict[str, Any]
    """JSON Schema of the input, which is an object"""
    strict: NotRequired[bool | None]
    """Whether the job fails with `schema_unmet` if the input does not match `input_schema`"""


class MessageRequestToolsItem2(TypedDict):
    """Not offered to the model"""

    type: str


class MessageRequestToolChoice1(TypedDict):
    type: Literal["auto"]
    disable_parallel_tool_use: NotRequired[bool | None]


class MessageRequestToolChoice2(TypedDict):
    type: Literal["any"]
    disable_parallel_tool_use: NotRequired[bool | None]


class MessageRequestToolChoice3(TypedDict):
    type: Literal["tool"]
    name: str
    disable_parallel_tool_use: NotRequired[bool | None]


class MessageRequestToolChoice4(TypedDict):
    type: Literal["none"]


class MessageRequestThinking1(TypedDict):
    type: Literal["disabled"]
    budget_tokens: NotRequired[None]


class MessageRequestThinking2(TypedDict):
    type: Literal["adaptive", "between_tools"]
    budget_tokens: NotRequired[None]


class MessageRequestThinking3(TypedDict):
    type: Literal["enabled"]
    budget_tokens: int
    """Budget of reasoning tokens: 512 tokens for a value below 2048, otherwise 2048"""


class MessageRequestOutputConfig(TypedDict):
    format: NotRequired[MessageRequestOutputConfigFormat | None]


class MessageRequestOutputConfigFormat(TypedDict):
    type: Literal["json_schema"]
    schema: dict[str, Any]
    """Same as the schema in `response_format` of a chat, with `strict: true`"""


class CountedTokens(TypedDict):
    input_tokens: int


class CountTokensRequest(TypedDict):
    model: str
    """Slug or alias of a chat Cargo"""
    messages: list[CountTokensRequestMessagesItem]
    """At most 16384 parts in total"""
    system: NotRequired[str | list[CountTokensRequestSystemItem] | None]
    """Text, or a list of text blocks, which are joined"""
    tools: NotRequired[list[CountTokensRequestToolsItem1 | CountTokensRequestToolsItem2] | None]
    """Client tools, at most 256 KB in total; built-in tools are not offered to the model"""
    tool_choice: NotRequired[CountTokensRequestToolChoice1 | CountTokensRequestToolChoice2 | CountTokensRequestToolChoice3 | CountTokensRequestToolChoice4 | None]
    thinking: NotRequired[CountTokensRequestThinking1 | CountTokensRequestThinking2 | CountTokensRequestThinking3 | None]
    """Reasoning, which is off by default. Cargos without reasoning ignore `enabled`"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class CountTokensRequestMessagesItem(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str | list[CountTokensRequestMessagesItemContentItem1 | CountTokensRequestMessagesItemContentItem2 | CountTokensRequestMessagesItemContentItem3 | CountTokensRequestMessagesItemContentItem4 | CountTokensRequestMessagesItemContentItem5 | CountTokensRequestMessagesItemContentItem6]
    """Text, or a list of blocks, of which the text blocks are joined"""


class CountTokensRequestMessagesItemContentItem1(TypedDict):
    type: Literal["text"]
    text: str


class CountTokensRequestMessagesItemContentItem2(TypedDict):
    type: Literal["image"]
    source: CountTokensRequestMessagesItemContentItem2Source1 | CountTokensRequestMessagesItemContentItem2Source2
    """Only in `user` messages"""


class CountTokensRequestMessagesItemContentItem2Source1(TypedDict):
    type: Literal["base64"]
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: str


class CountTokensRequestMessagesItemContentItem2Source2(TypedDict):
    type: Literal["url"]
    url: str
    """A data URL, or an https address, which the coordinator downloads. At most 16 images of together 3.0 MiB in a request"""


class CountTokensRequestMessagesItemContentItem3(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class CountTokensRequestMessagesItemContentItem4(TypedDict):
    type: Literal["tool_result"]
    tool_use_id: str
    content: NotRequired[str | list[CountTokensRequestMessagesItemContentItem4ContentItem] | None]
    """Text, or text blocks"""


class CountTokensRequestMessagesItemContentItem4ContentItem(TypedDict):
    type: Literal["text"]
    text: str


class CountTokensRequestMessagesItemContentItem5(TypedDict):
    type: Literal["thinking"]


class CountTokensRequestMessagesItemContentItem6(TypedDict):
    type: Literal["redacted_thinking"]


class CountTokensRequestSystemItem(TypedDict):
    type: Literal["text"]
    text: str


class CountTokensRequestToolsItem1(TypedDict):
    type: NotRequired[Literal["custom"]]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Description of the tool, which is part of the prompt"""
    input_schema: dict[str, Any]
    """JSON Schema of the input, which is an object"""
    strict: NotRequired[bool | None]
    """Whether the job fails with `schema_unmet` if the input does not match `input_schema`"""


class CountTokensRequestToolsItem2(TypedDict):
    """Not offered to the model"""

    type: str


class CountTokensRequestToolChoice1(TypedDict):
    type: Literal["auto"]
    disable_parallel_tool_use: NotRequired[bool | None]


class CountTokensRequestToolChoice2(TypedDict):
    type: Literal["any"]
    disable_parallel_tool_use: NotRequired[bool | None]


class CountTokensRequestToolChoice3(TypedDict):
    type: Literal["tool"]
    name: str
    disable_parallel_tool_use: NotRequired[bool | None]


class CountTokensRequestToolChoice4(TypedDict):
    type: Literal["none"]


class CountTokensRequestThinking1(TypedDict):
    type: Literal["disabled"]
    budget_tokens: NotRequired[None]


class CountTokensRequestThinking2(TypedDict):
    type: Literal["adaptive", "between_tools"]
    budget_tokens: NotRequired[None]


class CountTokensRequestThinking3(TypedDict):
    type: Literal["enabled"]
    budget_tokens: int
    """Budget of reasoning tokens: 512 tokens for a value below 2048, otherwise 2048"""


class OpenAiResponse(TypedDict):
    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]
    background: bool
    error: OpenAiResponseError | None
    incomplete_details: OpenAiResponseIncompleteDetails | None
    instructions: str | None
    max_output_tokens: int | None
    metadata: dict[str, str]
    model: str
    output: list[OpenAiResponseOutputItem1 | OpenAiResponseOutputItem2 | OpenAiResponseOutputItem3]
    parallel_tool_calls: bool
    tool_choice: Literal["auto", "none", "required"] | OpenAiResponseToolChoice2 | OpenAiResponseToolChoice3
    tools: list[OpenAiResponseToolsItem]
    previous_response_id: str | None
    reasoning: OpenAiResponseReasoning
    store: bool
    temperature: float | None
    text: OpenAiResponseText
    top_logprobs: int
    top_p: float | None
    truncation: Literal["disabled"]
    usage: OpenAiResponseUsage | None


class OpenAiResponseError(TypedDict):
    code: Literal["server_error", "invalid_prompt", "context_length_exceeded"]
    message: str


class OpenAiResponseIncompleteDetails(TypedDict):
    reason: Literal["max_output_tokens"]


class OpenAiResponseOutputItem1(TypedDict):
    id: str
    type: Literal["reasoning"]
    status: Literal["in_progress", "completed", "incomplete"]
    summary: list[Any]
    content: list[OpenAiResponseOutputItem1ContentItem]
    """Reasoning of a Cargo that supports it"""
    encrypted_content: str
    """Opaque text that is not used; `content` has the whole reasoning"""


class OpenAiResponseOutputItem1ContentItem(TypedDict):
    type: Literal["reasoning_text"]
    text: str


class OpenAiResponseOutputItem2(TypedDict):
    id: str
    type: Literal["message"]
    status: Literal["in_progress", "completed", "incomplete"]
    role: Literal["assistant"]
    content: list[OpenAiResponseOutputItem2ContentItem]


class OpenAiResponseOutputItem2ContentItem(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[OpenAiResponseOutputItem2ContentItemLogprobsItem]
    """Log probabilities; empty unless requested"""


class OpenAiResponseOutputItem2ContentItemLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[OpenAiResponseOutputItem2ContentItemLogprobsItemTopLogprobsItem]


class OpenAiResponseOutputItem2ContentItemLogprobsItemTopLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float


class OpenAiResponseOutputItem3(TypedDict):
    id: str
    type: Literal["function_call"]
    status: Literal["in_progress", "completed", "incomplete"]
    call_id: str
    name: str
    namespace: NotRequired[str]
    """Namespace of the function, if it has one"""
    arguments: str
    """JSON text"""


class OpenAiResponseToolChoice2(TypedDict):
    type: Literal["function"]
    name: str


class OpenAiResponseToolChoice3(TypedDict):
    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: list[OpenAiResponseToolChoice3ToolsItem]


class OpenAiResponseToolChoice3ToolsItem(TypedDict):
    type: Literal["function"]
    name: str


class OpenAiResponseToolsItem(TypedDict):
    type: Literal["function"]
    name: str
    description: str | None
    parameters: dict[str, Any] | None
    strict: bool | None


class OpenAiResponseReasoning(TypedDict):
    effort: Literal["none", "minimal", "low", "medium", "high", None]
    summary: None


class OpenAiResponseText(TypedDict):
    format: OpenAiResponseTextFormat1 | OpenAiResponseTextFormat2 | OpenAiResponseTextFormat3


class OpenAiResponseTextFormat1(TypedDict):
    type: Literal["text"]


class OpenAiResponseTextFormat2(TypedDict):
    type: Literal["json_object"]


class OpenAiResponseTextFormat3(TypedDict):
    type: Literal["json_schema"]
    name: str
    """Used only in error messages"""
    schema: dict[str, Any]
    """Same as in `response_format` of a chat"""
    strict: NotRequired[bool | None]
    """Same as in `response_format` of a chat"""


class OpenAiResponseUsage(TypedDict):
    input_tokens: int
    input_tokens_details: OpenAiResponseUsageInputTokensDetails
    output_tokens: int
    output_tokens_details: OpenAiResponseUsageOutputTokensDetails
    total_tokens: int
    cost: float
    """Credits that were charged, with up to 6 decimals"""


class OpenAiResponseUsageInputTokensDetails(TypedDict):
    cached_tokens: int
    cache_write_tokens: int


class OpenAiResponseUsageOutputTokensDetails(TypedDict):
    reasoning_tokens: int


class OpenAiResponseEvent1(TypedDict):
    type: Literal["response.created"]
    sequence_number: int
    response: OpenAiResponse


class OpenAiResponseEvent2(TypedDict):
    type: Literal["response.in_progress"]
    sequence_number: int
    response: OpenAiResponse


class OpenAiResponseEvent3(TypedDict):
    type: Literal["response.completed"]
    sequence_number: int
    response: OpenAiResponse


class OpenAiResponseEvent4(TypedDict):
    type: Literal["response.incomplete"]
    sequence_number: int
    response: OpenAiResponse


class OpenAiResponseEvent5(TypedDict):
    type: Literal["response.failed"]
    sequence_number: int
    response: OpenAiResponse


class OpenAiResponseEvent6(TypedDict):
    type: Literal["response.output_item.added"]
    sequence_number: int
    output_index: int
    item: OpenAiResponseEvent6Item1 | OpenAiResponseEvent6Item2 | OpenAiResponseEvent6Item3


class OpenAiResponseEvent6Item1(TypedDict):
    id: str
    type: Literal["reasoning"]
    status: Literal["in_progress", "completed", "incomplete"]
    summary: list[Any]
    content: list[OpenAiResponseEvent6Item1ContentItem]
    """Reasoning of a Cargo that supports it"""
    encrypted_content: str
    """Opaque text that is not used; `content` has the whole reasoning"""


class OpenAiResponseEvent6Item1ContentItem(TypedDict):
    type: Literal["reasoning_text"]
    text: str


class OpenAiResponseEvent6Item2(TypedDict):
    id: str
    type: Literal["message"]
    status: Literal["in_progress", "completed", "incomplete"]
    role: Literal["assistant"]
    content: list[OpenAiResponseEvent6Item2ContentItem]


class OpenAiResponseEvent6Item2ContentItem(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[OpenAiResponseEvent6Item2ContentItemLogprobsItem]
    """Log probabilities; empty unless requested"""


class OpenAiResponseEvent6Item2ContentItemLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[OpenAiResponseEvent6Item2ContentItemLogprobsItemTopLogprobsItem]


class OpenAiResponseEvent6Item2ContentItemLogprobsItemTopLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float


class OpenAiResponseEvent6Item3(TypedDict):
    id: str
    type: Literal["function_call"]
    status: Literal["in_progress", "completed", "incomplete"]
    call_id: str
    name: str
    namespace: NotRequired[str]
    """Namespace of the function, if it has one"""
    arguments: str
    """JSON text"""


class OpenAiResponseEvent7(TypedDict):
    type: Literal["response.output_item.done"]
    sequence_number: int
    output_index: int
    item: OpenAiResponseEvent7Item1 | OpenAiResponseEvent7Item2 | OpenAiResponseEvent7Item3


class OpenAiResponseEvent7Item1(TypedDict):
    id: str
    type: Literal["reasoning"]
    status: Literal["in_progress", "completed", "incomplete"]
    summary: list[Any]
    content: list[OpenAiResponseEvent7Item1ContentItem]
    """Reasoning of a Cargo that supports it"""
    encrypted_content: str
    """Opaque text that is not used; `content` has the whole reasoning"""


class OpenAiResponseEvent7Item1ContentItem(TypedDict):
    type: Literal["reasoning_text"]
    text: str


class OpenAiResponseEvent7Item2(TypedDict):
    id: str
    type: Literal["message"]
    status: Literal["in_progress", "completed", "incomplete"]
    role: Literal["assistant"]
    content: list[OpenAiResponseEvent7Item2ContentItem]


class OpenAiResponseEvent7Item2ContentItem(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[OpenAiResponseEvent7Item2ContentItemLogprobsItem]
    """Log probabilities; empty unless requested"""


class OpenAiResponseEvent7Item2ContentItemLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[OpenAiResponseEvent7Item2ContentItemLogprobsItemTopLogprobsItem]


class OpenAiResponseEvent7Item2ContentItemLogprobsItemTopLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float


class OpenAiResponseEvent7Item3(TypedDict):
    id: str
    type: Literal["function_call"]
    status: Literal["in_progress", "completed", "incomplete"]
    call_id: str
    name: str
    namespace: NotRequired[str]
    """Namespace of the function, if it has one"""
    arguments: str
    """JSON text"""


class OpenAiResponseEvent8(TypedDict):
    type: Literal["response.content_part.added"]
    sequence_number: int
    item_id: str
    output_index: int
    content_index: int
    part: OpenAiResponseEvent8Part1 | OpenAiResponseEvent8Part2


class OpenAiResponseEvent8Part1(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[OpenAiResponseEvent8Part1LogprobsItem]
    """Log probabilities; empty unless requested"""


class OpenAiResponseEvent8Part1LogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[OpenAiResponseEvent8Part1LogprobsItemTopLogprobsItem]


class OpenAiResponseEvent8Part1LogprobsItemTopLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float


class OpenAiResponseEvent8Part2(TypedDict):
    type: Literal["reasoning_text"]
    text: str


class OpenAiResponseEvent9(TypedDict):
    type: Literal["response.content_part.done"]
    sequence_number: int
    item_id: str
    output_index: int
    content_index: int
    part: OpenAiResponseEvent9Part1 | OpenAiResponseEvent9Part2


class OpenAiResponseEvent9Part1(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[OpenAiResponseEvent9Part1LogprobsItem]
    """Log probabilities; empty unless requested"""


class OpenAiResponseEvent9Part1LogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[OpenAiResponseEvent9Part1LogprobsItemTopLogprobsItem]


class OpenAiResponseEvent9Part1LogprobsItemTopLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float


class OpenAiResponseEvent9Part2(TypedDict):
    type: Literal["reasoning_text"]
    text: str


class OpenAiResponseEvent10(TypedDict):
    type: Literal["error"]
    sequence_number: int
    code: str
    message: str
    param: None


class OpenAiResponseEvent11(TypedDict):
    type: Literal["response.reasoning_text.delta"]
    sequence_number: int
    item_id: str
    output_index: int
    content_index: int
    delta: str


class OpenAiResponseEvent12(TypedDict):
    type: Literal["response.reasoning_text.done"]
    sequence_number: int
    item_id: str
    output_index: int
    content_index: int
    text: str


class OpenAiResponseEvent13(TypedDict):
    type: Literal["response.output_text.delta"]
    sequence_number: int
    item_id: str
    output_index: int
    content_index: int
    delta: str
    logprobs: list[OpenAiResponseEvent13LogprobsItem]


class OpenAiResponseEvent13LogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[OpenAiResponseEvent13LogprobsItemTopLogprobsItem]


class OpenAiResponseEvent13LogprobsItemTopLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float


class OpenAiResponseEvent14(TypedDict):
    type: Literal["response.output_text.done"]
    sequence_number: int
    item_id: str
    output_index: int
    content_index: int
    text: str
    logprobs: list[OpenAiResponseEvent14LogprobsItem]


class OpenAiResponseEvent14LogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[OpenAiResponseEvent14LogprobsItemTopLogprobsItem]


class OpenAiResponseEvent14LogprobsItemTopLogprobsItem(TypedDict):
    token: str
    bytes: list[int]
    logprob: float


class OpenAiResponseEvent15(TypedDict):
    type: Literal["response.function_call_arguments.delta"]
    sequence_number: int
    item_id: str
    output_index: int
    delta: str


class OpenAiResponseEvent16(TypedDict):
    type: Literal["response.function_call_arguments.done"]
    sequence_number: int
    item_id: str
    output_index: int
    name: str
    arguments: str


OpenAiResponseEvent: TypeAlias = "OpenAiResponseEvent1 | OpenAiResponseEvent2 | OpenAiResponseEvent3 | OpenAiResponseEvent4 | OpenAiResponseEvent5 | OpenAiResponseEvent6 | OpenAiResponseEvent7 | OpenAiResponseEvent8 | OpenAiResponseEvent9 | OpenAiResponseEvent10 | OpenAiResponseEvent11 | OpenAiResponseEvent12 | OpenAiResponseEvent13 | OpenAiResponseEvent14 | OpenAiResponseEvent15 | OpenAiResponseEvent16"


class ResponseRequest(TypedDict):
    model: NotRequired[str | None]
    """Default: the operator's default chat Cargo"""
    input: str | list[ResponseRequestInputItem1 | ResponseRequestInputItem2 | ResponseRequestInputItem3 | ResponseRequestInputItem4 | ResponseRequestInputItem5 | ResponseRequestInputItem6 | ResponseRequestInputItem7]
    """At most 16384 parts in total"""
    instructions: NotRequired[str | None]
    previous_response_id: NotRequired[str | None]
    """Id of a stored response that is completed or incomplete. Its conversation, without its instructions, precedes `input`"""
    max_output_tokens: NotRequired[int | None]
    """Default 1024. Values above the Cargo's context are lowered to it, or to 4096 if that is more"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    text: NotRequired[ResponseRequestText | None]
    tools: NotRequired[list[ResponseRequestToolsItem1 | ResponseRequestToolsItem2 | ResponseRequestToolsItem3] | None]
    """Functions and namespaces of functions, at most 256 KB in total"""
    tool_choice: NotRequired[Literal["auto", "none", "required"] | ResponseRequestToolChoice2 | ResponseRequestToolChoice3 | None]
    parallel_tool_calls: NotRequired[bool | None]
    """Default true: up to 16 tool calls; a named function is called once"""
    include: NotRequired[list[Literal["message.output_text.logprobs", "reasoning.encrypted_content", "file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs"]] | None]
    """`reasoning.encrypted_content` has an effect only for Cargos with reasoning"""
    top_logprobs: NotRequired[int | None]
    """`max_tokens` × (`top_logprobs` + 1) may be at most 100000"""
    reasoning: NotRequired[ResponseRequestReasoning | None]
    stream: NotRequired[bool | None]
    store: NotRequired[bool | None]
    """Whether input and output stay stored when the response ends. Default: true"""
    background: NotRequired[bool | None]
    """Return at once and run without the client, which polls `GET /responses/{id}`. Cannot be combined with `stream` or `store: false`"""
    metadata: NotRequired[dict[str, str] | None]
    """At most 16 entries"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class ResponseRequestInputItem1(TypedDict):
    type: NotRequired[Literal["message"]]
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[ResponseRequestInputItem1ContentItem1 | ResponseRequestInputItem1ContentItem2]
    """Text, or a list of parts; text parts are joined"""


class ResponseRequestInputItem1ContentItem1(TypedDict):
    type: Literal["input_text", "output_text", "text"]
    text: str


class ResponseRequestInputItem1ContentItem2(TypedDict):
    type: Literal["input_image"]
    image_url: str
    """As `image_url.url` of a chat completion. Only in `user` messages"""


class ResponseRequestInputItem2(TypedDict):
    type: Literal["function_call"]
    call_id: str
    name: str
    namespace: NotRequired[str | None]
    arguments: str
    """JSON text"""


class ResponseRequestInputItem3(TypedDict):
    type: Literal["custom_tool_call"]
    call_id: str
    name: str
    namespace: NotRequired[str | None]
    input: str
    """The model receives `{"input": …}`"""


class ResponseRequestInputItem4(TypedDict):
    type: Literal["local_shell_call"]
    call_id: str
    action: dict[str, Any]
    """The model receives it as JSON"""


class ResponseRequestInputItem5(TypedDict):
    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: str
    output: str | list[ResponseRequestInputItem5OutputItem]


class ResponseRequestInputItem5OutputItem(TypedDict):
    type: Literal["input_text", "output_text", "text"]
    text: str


class ResponseRequestInputItem6(TypedDict):
    type: Literal["reasoning", "web_search_call", "file_search_call", "code_interpreter_call"]


class ResponseRequestInputItem7(TypedDict):
    type: Literal["item_reference"]
    id: str
    """Id of an item of a stored response"""


class ResponseRequestText(TypedDict):
    format: NotRequired[ResponseRequestTextFormat1 | ResponseRequestTextFormat2 | ResponseRequestTextFormat3 | None]


class ResponseRequestTextFormat1(TypedDict):
    type: Literal["text"]


class ResponseRequestTextFormat2(TypedDict):
    type: Literal["json_object"]


class ResponseRequestTextFormat3(TypedDict):
    type: Literal["json_schema"]
    name: str
    """Used only in error messages"""
    schema: dict[str, Any]
    """Same as in `response_format` of a chat"""
    strict: NotRequired[bool | None]
    """Same as in `response_format` of a chat"""


class ResponseRequestToolsItem1(TypedDict):
    type: Literal["function"]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Description of the tool, which is part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """JSON Schema of the arguments, which are an object"""
    strict: NotRequired[bool | None]
    """Whether the job fails with `schema_unmet` if the arguments do not match `parameters`"""


class ResponseRequestToolsItem2(TypedDict):
    type: Literal["namespace"]
    name: str
    description: NotRequired[str | None]
    tools: list[ResponseRequestToolsItem2ToolsItem1 | ResponseRequestToolsItem2ToolsItem2]
    """Functions of a namespace; the model sees `lookup` of `crm` as `crm__lookup`"""


class ResponseRequestToolsItem2ToolsItem1(TypedDict):
    type: Literal["function"]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Description of the tool, which is part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """JSON Schema of the arguments, which are an object"""
    strict: NotRequired[bool | None]
    """Whether the job fails with `schema_unmet` if the arguments do not match `parameters`"""


class ResponseRequestToolsItem2ToolsItem2(TypedDict):
    """Not offered to the model"""

    type: str


class ResponseRequestToolsItem3(TypedDict):
    """Not offered to the model"""

    type: str


class ResponseRequestToolChoice2(TypedDict):
    type: Literal["function"]
    name: str
    namespace: NotRequired[str | None]


class ResponseRequestToolChoice3(TypedDict):
    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: list[ResponseRequestToolChoice3ToolsItem]


class ResponseRequestToolChoice3ToolsItem(TypedDict):
    type: Literal["function"]
    name: str
    namespace: NotRequired[str | None]


class ResponseRequestReasoning(TypedDict):
    effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", None]]
    """Effort of reasoning. A Cargo without reasoning ignores it, and `Atoll-Ignored` names it"""


class Embeddings(TypedDict):
    object: Literal["list"]
    data: list[EmbeddingsDataItem]
    model: str
    usage: EmbeddingsUsage


class EmbeddingsDataItem(TypedDict):
    object: Literal["embedding"]
    index: int
    embedding: list[float]


class EmbeddingsUsage(TypedDict):
    prompt_tokens: int
    total_tokens: int


class EmbeddingsRequest(TypedDict):
    input: str | list[str]
    """A text or a list of texts. A job takes up to 256 texts or 255 KiB. Lists of token ids are refused"""
    model: NotRequired[str | None]
    """Slug or alias of a Cargo with the task `feature-extraction`. Default: the setting `default_embedding_cargo`"""
    dimensions: NotRequired[int | None]
    """Must be the model's number of dimensions. Any other number is refused after the job has run, and the job is charged"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class Reranking(TypedDict):
    id: str
    """Id of the job"""
    object: Literal["list"]
    model: str
    results: list[RerankingResultsItem]
    """Results, best first"""
    usage: RerankingUsage
    meta: RerankingMeta
    """`usage` in the format of Cohere's API"""


class RerankingResultsItem(TypedDict):
    index: int
    """Index of the document in the request"""
    relevance_score: float
    """Score from the reranking Cargo, or (1 + cosine of the two vectors) / 2, from 0 to 1. Compare scores only within one response"""
    document: NotRequired[RerankingResultsItemDocument]


class RerankingResultsItemDocument(TypedDict):
    text: str


class RerankingUsage(TypedDict):
    prompt_tokens: int
    total_tokens: int


class RerankingMeta(TypedDict):
    """`usage` in the format of Cohere's API"""

    tokens: RerankingMetaTokens


class RerankingMetaTokens(TypedDict):
    input_tokens: int
    output_tokens: Literal[0]


class RerankRequest(TypedDict):
    model: NotRequired[str | None]
    """Slug or alias of a Cargo with the task `text-ranking` or `feature-extraction`. Default: the setting `default_rerank_cargo`"""
    query: str
    documents: list[str | RerankRequestDocumentsItem]
    top_n: NotRequired[int | None]
    """Number of results to return. Default: all"""
    return_documents: NotRequired[bool | None]
    """Default false"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class RerankRequestDocumentsItem(TypedDict):
    text: str


class Moderation(TypedDict):
    id: str
    """Id of the job of the first text"""
    model: str
    results: list[ModerationResultsItem]


class ModerationResultsItem(TypedDict):
    flagged: bool
    """Whether any category is true"""
    categories: ModerationResultsItemCategories
    """True for scores of at least 0.5"""
    category_scores: ModerationResultsItemCategoryScores
    """0 for a category that the Cargo does not know"""
    category_applied_input_types: ModerationResultsItemCategoryAppliedInputTypes
    """Empty for a category that the Cargo does not know"""
    labels: list[ModerationResultsItemLabelsItem]
    """Labels of the Cargo, best first, including those that are not categories of OpenAI"""


ModerationResultsItemCategories = TypedDict("ModerationResultsItemCategories", {
    "harassment": "bool",
    "harassment/threatening": "bool",
    "hate": "bool",
    "hate/threatening": "bool",
    "illicit": "bool",
    "illicit/violent": "bool",
    "self-harm": "bool",
    "self-harm/instructions": "bool",
    "self-harm/intent": "bool",
    "sexual": "bool",
    "sexual/minors": "bool",
    "violence": "bool",
    "violence/graphic": "bool",
})


ModerationResultsItemCategoryScores = TypedDict("ModerationResultsItemCategoryScores", {
    "harassment": "float",
    "harassment/threatening": "float",
    "hate": "float",
    "hate/threatening": "float",
    "illicit": "float",
    "illicit/violent": "float",
    "self-harm": "float",
    "self-harm/instructions": "float",
    "self-harm/intent": "float",
    "sexual": "float",
    "sexual/minors": "float",
    "violence": "float",
    "violence/graphic": "float",
})


ModerationResultsItemCategoryAppliedInputTypes = TypedDict("ModerationResultsItemCategoryAppliedInputTypes", {
    "harassment": "list[Literal[\"text\"]]",
    "harassment/threatening": "list[Literal[\"text\"]]",
    "hate": "list[Literal[\"text\"]]",
    "hate/threatening": "list[Literal[\"text\"]]",
    "illicit": "list[Literal[\"text\"]]",
    "illicit/violent": "list[Literal[\"text\"]]",
    "self-harm": "list[Literal[\"text\"]]",
    "self-harm/instructions": "list[Literal[\"text\"]]",
    "self-harm/intent": "list[Literal[\"text\"]]",
    "sexual": "list[Literal[\"text\"]]",
    "sexual/minors": "list[Literal[\"text\"]]",
    "violence": "list[Literal[\"text\"]]",
    "violence/graphic": "list[Literal[\"text\"]]",
})


class ModerationResultsItemLabelsItem(TypedDict):
    label: str
    score: float


class ModerationRequest(TypedDict):
    model: NotRequired[str | None]
    """Slug or alias of an onnx Cargo with the task `text-classification`. Default: the setting `default_moderation_cargo`"""
    input: str | list[str | ModerationRequestInputItem]
    """A text or a list of texts. Each text is a job, and four run at once"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class ModerationRequestInputItem(TypedDict):
    type: Literal["text"]
    text: str


class File(TypedDict):
    id: str
    object: Literal["file"]
    bytes: int
    created_at: int
    """Unix time in seconds"""
    expires_at: int | None
    """Unix time in seconds at which the file is removed; null if it stays until you delete it"""
    filename: str
    purpose: Literal["assistants", "batch", "batch_output", "evals", "fine-tune", "user_data", "vision"]
    status: Literal["processed"]
    sha256: str
    """SHA-256 of the content, in hexadecimal"""


UploadFile = TypedDict("UploadFile", {
    "purpose": "Literal[\"assistants\", \"batch\", \"evals\", \"fine-tune\", \"user_data\", \"vision\"]",
    "expires_after[anchor]": "NotRequired[Literal[\"created_at\"]]",
    "expires_after[seconds]": "NotRequired[float]",
    "file": "str",
})


class FileList(TypedDict):
    object: Literal["list"]
    data: list[File]
    first_id: str | None
    last_id: str | None
    has_more: bool


class DeletedFile(TypedDict):
    id: str
    object: Literal["file"]
    deleted: Literal[True]


class FileBatch(TypedDict):
    id: str
    object: Literal["batch"]
    endpoint: str
    errors: FileBatchErrors | None
    """Why the batch failed"""
    input_file_id: str
    completion_window: Literal["24h"]
    status: Literal["validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"]
    output_file_id: str | None
    """File of the lines that succeeded"""
    error_file_id: str | None
    """File of the lines that failed"""
    created_at: int
    in_progress_at: int | None
    """Unix time in seconds; null if it has not happened"""
    expires_at: int
    finalizing_at: int | None
    """Unix time in seconds; null if it has not happened"""
    completed_at: int | None
    """Unix time in seconds; null if it has not happened"""
    failed_at: int | None
    """Unix time in seconds; null if it has not happened"""
    expired_at: int | None
    """Unix time in seconds; null if it has not happened"""
    cancelling_at: int | None
    """Unix time in seconds; null if it has not happened"""
    cancelled_at: int | None
    """Unix time in seconds; null if it has not happened"""
    request_counts: FileBatchRequestCounts
    metadata: dict[str, str] | None


class FileBatchErrors(TypedDict):
    """Why the batch failed"""

    object: Literal["list"]
    data: list[FileBatchErrorsDataItem]


class FileBatchErrorsDataItem(TypedDict):
    code: str
    message: str
    param: str | None
    line: int | None
    """Line number, from 1; null if the error concerns the whole file"""


class FileBatchRequestCounts(TypedDict):
    total: int
    completed: int
    failed: int


class CreateFileBatch(TypedDict):
    input_file_id: str
    """Id of a JSONL file with the purpose `batch`"""
    endpoint: str
    """Endpoint of every line; docs/use/files-and-batches.md lists those that batches support"""
    completion_window: Literal["24h"]
    metadata: NotRequired[dict[str, str] | None]
    output_expires_after: NotRequired[CreateFileBatchOutputExpiresAfter | None]
    """Lifetime of the result files, at most the coordinator's retention of files"""


class CreateFileBatchOutputExpiresAfter(TypedDict):
    """Lifetime of the result files, at most the coordinator's retention of files"""

    anchor: Literal["created_at"]
    seconds: int


class FileBatchList(TypedDict):
    object: Literal["list"]
    data: list[FileBatch]
    first_id: str | None
    last_id: str | None
    has_more: bool


class Images(TypedDict):
    created: int
    """Unix time in seconds"""
    data: list[ImagesDataItem]
    output_format: Literal["png"]
    usage: ImagesUsage


class ImagesDataItem(TypedDict):
    b64_json: str
    """The image file in base64"""


class ImagesUsage(TypedDict):
    input_tokens: int
    input_tokens_details: ImagesUsageInputTokensDetails
    output_tokens: int
    """Always 0: images have no tokens"""
    total_tokens: int


class ImagesUsageInputTokensDetails(TypedDict):
    text_tokens: int
    image_tokens: int


class ImagesRequest(TypedDict):
    prompt: str
    model: NotRequired[str | None]
    """Slug or alias of an image Cargo. Default: the setting `default_image_cargo`"""
    n: NotRequired[int | None]
    """Number of images. Default: 1. Each image is a separate job; the jobs run one after the other"""
    size: NotRequired[str | None]
    """Width and height, such as `512x512`, or `auto` for the Cargo's size, which is the default. A size that the Cargo does not support is refused with 422"""
    response_format: NotRequired[Literal["b64_json"]]
    output_format: NotRequired[Literal["png"]]
    negative_prompt: NotRequired[str | None]
    """What the image should not show. Not part of OpenAI's API"""
    steps: NotRequired[int | None]
    """Number of sampler steps. Default: that of the Cargo. Not part of OpenAI's API"""
    guidance_scale: NotRequired[float | None]
    """How closely the image follows the prompt. Not part of OpenAI's API"""
    seed: NotRequired[int | None]
    """The same seed gives the same image. Image i of n, counted from 0, uses the seed plus i. Not part of OpenAI's API"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class SpeechEvent1(TypedDict):
    type: Literal["speech.audio.delta"]
    audio: str
    """The next bytes of the file, in base64"""


class SpeechEvent2(TypedDict):
    type: Literal["speech.audio.done"]
    usage: SpeechEvent2Usage


class SpeechEvent2Usage(TypedDict):
    input_tokens: int
    output_tokens: int
    total_tokens: int


SpeechEvent: TypeAlias = "SpeechEvent1 | SpeechEvent2"


class SpeechRequest(TypedDict):
    input: str
    """Text to speak. A long text is split between sentences into several jobs"""
    model: NotRequired[str | None]
    """Slug or alias of a speech Cargo. Default: the setting `default_speech_cargo`"""
    voice: NotRequired[str | None]
    """A voice of the Cargo. Any other voice, including those of OpenAI, is refused with 422. Default: `default`, the Cargo's first voice"""
    speed: NotRequired[float | None]
    """Speed of the speech. Default: 1. A Cargo with only one speed refuses any other value with 422"""
    response_format: NotRequired[Literal["mp3", "wav", "pcm", None]]
    """Audio format. Default: `mp3`. `pcm` is 24 kHz, 16 bit, mono, little-endian"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class Transcription(TypedDict):
    text: str
    task: NotRequired[Literal["transcribe", "translate"]]
    """Task; present only with `verbose_json`, like `language`, `duration`, `segments` and `words`"""
    language: NotRequired[str]
    """The requested language"""
    duration: NotRequired[float]
    """Duration of the recording in seconds"""
    segments: NotRequired[list[TranscriptionSegmentsItem]]
    words: NotRequired[list[TranscriptionWordsItem]]
    usage: TranscriptionUsage


class TranscriptionSegmentsItem(TypedDict):
    id: int
    start: float
    end: float
    text: str


class TranscriptionWordsItem(TypedDict):
    word: str
    start: float
    end: float


class TranscriptionUsage(TypedDict):
    type: Literal["duration"]
    seconds: int


TranscriptionForm = TypedDict("TranscriptionForm", {
    "file": "str",
    "model": "NotRequired[str]",
    "response_format": "NotRequired[Literal[\"json\", \"text\", \"srt\", \"vtt\", \"verbose_json\"]]",
    "trust": "NotRequired[Literal[\"any\", \"proven\", \"own\", None]]",
    "audit": "NotRequired[Literal[\"default\", \"never\", None]]",
    "language": "NotRequired[str]",
    "timestamp_granularities[]": "NotRequired[list[Literal[\"segment\", \"word\"]]]",
})


class TranslationForm(TypedDict):
    file: str
    """A WAV file of at most 25 MB, about 13 minutes at 16 kHz and 16 bit"""
    model: NotRequired[str]
    """Slug or alias of a transcription Cargo. Default: the setting `default_transcription_cargo`"""
    response_format: NotRequired[Literal["json", "text", "srt", "vtt", "verbose_json"]]
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more"""
    audit: NotRequired[Literal["default", "never", None]]
    """`never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default`"""


class Model(TypedDict):
    id: str
    """Slug or alias of the Cargo"""
    object: Literal["model"]
    created: int
    """Unix time in seconds at which the Cargo was added to the catalog"""
    owned_by: str
    type: Literal["chat", "embedding", "rerank", "classification", "image", "transcription", "speech"]
    capabilities: list[str]
    """Paths of the endpoints that accept the model"""
    alias_of: str | None
    """Slug of the Cargo if the id is an alias; otherwise null"""
    is_default: bool
    """Whether requests without `model` to an endpoint in `capabilities` use this Cargo"""
    available: bool
    """Whether a connected Island can run the Cargo now; otherwise requests wait"""
    ready: bool
    """Whether such an Island needs no download first"""
    free: int
    """Number of Islands that can run the Cargo now and have a free slot"""
    pricing: ModelPricing
    """A request costs its tokens, pixels or seconds by the prices that are not null, otherwise `per_job` for each of its jobs. With such prices, `per_job` is the price of a job of the reference size"""
    context_length: int | None
    """Maximum number of tokens in prompt and completion together; null if unknown"""
    max_output_tokens: int | None
    """Maximum of `max_tokens`; null if it is not a chat Cargo"""
    tokens_per_second: float | None
    """Median of the most recent 100 jobs within 24 h, measured by this coordinator since its start; null if no job was measured"""
    first_token_ms: int | None
    """Median time from a chat's submission to its first token, measured like `tokens_per_second`"""
    tool_calls: Literal["template", "grammar", None]
    """How the prompt describes the tools: with the model's own chat template (`template`), or with a text that Atoll adds (`grammar`). In both cases, a grammar enforces the calls. Null if the Cargo does not support tool calls"""
    name: str
    """Name of the Cargo, for people"""
    hugging_face_id: str | None
    """Repository of the model on Hugging Face; null if unknown"""
    is_ready: bool
    """Same as `ready`, as OpenRouter names it"""
    max_output_length: int | None
    """Same as `max_output_tokens`, as OpenRouter names it"""
    supported_sampling_parameters: list[str]
    """Sampling parameters that chats accept"""
    input_modalities: list[Literal["text", "image", "audio"]]
    """Kinds of input"""
    output_modalities: list[Literal["text", "image", "audio", "embedding"]]
    """Kinds of output"""
    supported_features: list[Literal["tools", "json_mode", "structured_outputs", "logprobs", "reasoning"]]
    """Abilities in chats. An engine of a host may lack some; then other Islands run the requests"""
    parameters: str | None
    """Number of parameters, such as 8B; null if unknown"""
    quantization: str | None
    """Quantisation of the weights, such as Q4_K_M; null if unknown"""
    declared: bool
    """Whether the model is only declared: nothing proves what the engines of its hosts run"""
    islands_ready: int
    """Number of Islands that can run the Cargo now without a download"""
    reasoning: bool
    """Whether the model reasons before its completion (`reasoning_content`, `reasoning_effort`)"""


class ModelPricing(TypedDict):
    """A request costs its tokens, pixels or seconds by the prices that are not null, otherwise `per_job` for each of its jobs. With such prices, `per_job` is the price of a job of the reference size"""

    per_job: float
    """Credits, with up to 6 decimals"""
    unit: Literal["credits"]
    prompt: float | None
    """Credits for a million prompt tokens; null if prompts have no price"""
    completion: float | None
    """Credits for a million generated tokens; null if the Cargo does not generate tokens that have a price"""
    megapixel_step: float | None
    """Credits for a million pixels and a step; null if the Cargo is not priced by pixels"""
    audio_second: float | None
    """Credits for a second of audio; null if the Cargo is not priced by seconds"""


class Conversation(TypedDict):
    id: str
    title: str | None
    model: str
    system_prompt: str | None
    metadata: dict[str, str]
    created_at: str
    """Time in UTC, as ISO 8601"""
    updated_at: str
    """Time in UTC, as ISO 8601"""


class CreateConversation(TypedDict):
    title: NotRequired[str | None]
    model: NotRequired[str | None]
    """Slug or alias of a chat Cargo. Default: the operator's default chat Cargo"""
    system_prompt: NotRequired[str | None]
    metadata: NotRequired[dict[str, str] | None]
    """Data for the client's own use, at most 16 entries"""


class ConversationWithMessages(TypedDict):
    id: str
    title: str | None
    model: str
    system_prompt: str | None
    metadata: dict[str, str]
    created_at: str
    """Time in UTC, as ISO 8601"""
    updated_at: str
    """Time in UTC, as ISO 8601"""
    messages: list[Message]


class Message(TypedDict):
    id: str
    role: Literal["user", "assistant"]
    content: str
    """Text of the message; while the assistant's message is in progress, the text so far"""
    status: Literal["in_progress", "completed", "failed", "cancelled", "timeout"]
    job_id: str | None
    """Job that produces the assistant's message"""
    finish_reason: Literal["stop", "length", "tool_calls", None]
    error: MessageError | None
    created_at: str
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""


class MessageError(TypedDict):
    code: str
    message: str


class UpdateConversation(TypedDict):
    """Omitted fields do not change; a null `title` removes the title"""

    title: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    """Data for the client's own use, at most 16 entries"""


class AnsweredMessage(TypedDict):
    message: Message
    user_message: Message
    job_id: str
    usage: Usage


ConversationEvent: TypeAlias = "MessageEvent | StatusEvent | TokenEvent | ReasoningEvent | ToolCallEvent | ProgressEvent | ImageEvent | DoneEvent | ErrorEvent"


class MessageEvent(TypedDict):
    type: Literal["message"]
    conversation_id: str
    job_id: str
    message: Message
    user_message: Message


class PostMessage(TypedDict):
    content: str
    max_tokens: NotRequired[int | None]
    """Default 1024. Values above the Cargo's context are lowered to it, or to 4096 if that is more"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[str] | None]
    seed: NotRequired[int | None]
    """The same seed gives the same completion on the same engine and model"""
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: no limit"""
    min_p: NotRequired[float | None]
    repeat_penalty: NotRequired[float | None]
    """Divides the logits of tokens already in the completion; 1: no penalty"""
    logit_bias: NotRequired[dict[str, float] | None]
    """By ids of the model's own vocabulary, at most 300; -100 excludes a token"""
    response_format: NotRequired[PostMessageResponseFormat1 | PostMessageResponseFormat2 | PostMessageResponseFormat3 | None]
    max_completion_tokens: NotRequired[int | None]
    tools: NotRequired[None]
    """Not supported; must be null"""


class PostMessageResponseFormat1(TypedDict):
    type: Literal["text"]


class PostMessageResponseFormat2(TypedDict):
    type: Literal["json_object"]


class PostMessageResponseFormat3(TypedDict):
    type: Literal["json_schema"]
    json_schema: PostMessageResponseFormat3JsonSchema


class PostMessageResponseFormat3JsonSchema(TypedDict):
    name: NotRequired[str]
    """Used only in error messages"""
    schema: dict[str, Any]
    """A JSON Schema"""
    strict: NotRequired[bool | None]
    """Validate afterwards the keywords that the grammar cannot enforce"""


class AvailableCargo(TypedDict):
    slug: str
    islands: int
    """Number of connected Islands that can run the Cargo"""
    ready: int
    """Number of these Islands that need no download first"""
    free: int
    """Number of these Islands that have a free slot"""


class Cargo(TypedDict):
    slug: str
    name: str
    description: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    onnx_task_type: str | None
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    price_per_job: float
    """Price of a job; with `pricing`, the price of a job of the reference size"""
    pricing: Pricing | None
    """Prices by size, and the size that costs `price_per_job`; null if each job costs `price_per_job`"""
    required_vram_mb: int
    """Required graphics memory, in MB of 2^20 bytes"""
    required_ram_mb: int
    """Required memory, in MB of 2^20 bytes"""
    context_tokens: int | None
    """Maximum number of tokens in prompt and completion; null if not set"""
    licence: str
    model_sha256: str | None
    """SHA-256 of the model's file, in hexadecimal; null if the Cargo has no model, has a folder of files, or names no hash"""
    input_modalities: list[Literal["text", "image", "audio"]]
    """Kinds of input"""
    output_modalities: list[Literal["text", "image", "audio", "embedding"]]
    """Kinds of output"""
    supported_features: list[Literal["tools", "json_mode", "structured_outputs", "logprobs", "reasoning"]]
    """Abilities in chats. An engine of a host may lack some; then other Islands run the requests"""
    parameters: str | None
    """Number of parameters, such as 8B; null if unknown"""
    quantization: str | None
    """Quantisation of the weights, such as Q4_K_M; null if unknown"""
    declared: bool
    """Whether the model is only declared: nothing proves what the engines of its hosts run"""
    min_trust: Literal["any", "proven", "own"]
    """Trust that every job of the Cargo has at least"""
    chat: bool
    """Whether chat completions accept the Cargo as `model`"""


class Pricing(TypedDict):
    prompt: float | None
    """Credits for a million prompt tokens; null if prompts have no price"""
    completion: float | None
    """Credits for a million generated tokens; null if the Cargo does not generate tokens that have a price"""
    megapixel_step: float | None
    """Credits for a million pixels and a step; null if the Cargo is not priced by pixels"""
    audio_second: float | None
    """Credits for a second of audio; null if the Cargo is not priced by seconds"""
    reference: PricingReference
    """Size of the job that costs `price_per_job`"""


class PricingReference(TypedDict):
    """Size of the job that costs `price_per_job`"""

    prompt_tokens: int | None
    completion_tokens: int | None
    megapixel_steps: float | None
    audio_seconds: float | None


class CargoDetail(TypedDict):
    slug: str
    name: str
    description: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    onnx_task_type: str | None
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    price_per_job: float
    """Price of a job; with `pricing`, the price of a job of the reference size"""
    pricing: Pricing | None
    """Prices by size, and the size that costs `price_per_job`; null if each job costs `price_per_job`"""
    required_vram_mb: int
    """Required graphics memory, in MB of 2^20 bytes"""
    required_ram_mb: int
    """Required memory, in MB of 2^20 bytes"""
    context_tokens: int | None
    """Maximum number of tokens in prompt and completion; null if not set"""
    licence: str
    model_sha256: str | None
    """SHA-256 of the model's file, in hexadecimal; null if the Cargo has no model, has a folder of files, or names no hash"""
    input_modalities: list[Literal["text", "image", "audio"]]
    """Kinds of input"""
    output_modalities: list[Literal["text", "image", "audio", "embedding"]]
    """Kinds of output"""
    supported_features: list[Literal["tools", "json_mode", "structured_outputs", "logprobs", "reasoning"]]
    """Abilities in chats. An engine of a host may lack some; then other Islands run the requests"""
    parameters: str | None
    """Number of parameters, such as 8B; null if unknown"""
    quantization: str | None
    """Quantisation of the weights, such as Q4_K_M; null if unknown"""
    declared: bool
    """Whether the model is only declared: nothing proves what the engines of its hosts run"""
    min_trust: Literal["any", "proven", "own"]
    """Trust that every job of the Cargo has at least"""
    chat: bool
    """Whether chat completions accept the Cargo as `model`"""
    workload_id: int
    task: str | None
    """Name of the task on the model hub, such as `feature-extraction`; null for a chat, or if only the schemas define the task"""
    input_schema: dict[str, Any]
    """JSON Schema of a job's input"""
    example_input: dict[str, Any]
    output_schema: dict[str, Any]
    """JSON Schema of a job's output; `{}` allows any JSON value"""
    run_limit_s: float
    """Maximum duration of one attempt, in seconds"""
    wait_limit_s: float
    """Maximum time that a job waits for its start, in seconds"""
    accept_limit_s: float | None
    """Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies"""
    start_limit_s: float | None
    """Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies"""
    first_output_limit_s: float | None
    """Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies"""
    silence_limit_s: float | None
    """Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies"""
    approved: bool
    """Whether the operator approved the Cargo. Before that, only its owner can see and run it"""


class OwnedCargo(TypedDict):
    slug: str
    name: str
    description: str
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    licence: str
    required_ram_mb: int
    required_vram_mb: int
    example_input: dict[str, Any]
    """At most 16384 bytes as JSON"""
    price_per_job: float
    onnx_task_type: str | None
    model: OwnedCargoModel | None
    context_tokens: int | None
    run_limit_s: float
    wait_limit_s: float
    pricing: NotRequired[OwnedCargoPricing1 | OwnedCargoPricing2 | OwnedCargoPricing3 | OwnedCargoPricing4]
    accept_limit_s: NotRequired[float]
    start_limit_s: NotRequired[float]
    first_output_limit_s: NotRequired[float]
    silence_limit_s: NotRequired[float]
    min_trust: NotRequired[Literal["any", "proven", "own"]]
    weights: NotRequired[Literal["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4"]]
    container: NotRequired[OwnedCargoContainer]
    args: NotRequired[list[str]]
    task: NotRequired[Literal["feature-extraction", "text-ranking"]]
    parts: NotRequired[list[OwnedCargoPartsItem]]
    projector: NotRequired[OwnedCargoProjector]
    reads_images: NotRequired[bool]
    adapters: NotRequired[list[OwnedCargoAdaptersItem]]
    reasoning: NotRequired[bool]
    tools: NotRequired[Literal["template", "grammar"]]
    keep_alive_s: NotRequired[float]
    parameters: NotRequired[str]
    quantization: NotRequired[str]
    memory: NotRequired[OwnedCargoMemory1 | OwnedCargoMemory2]
    max_output_bytes: NotRequired[int]
    input_schema: NotRequired[dict[str, Any]]
    output_schema: NotRequired[dict[str, Any]]
    enabled: bool
    approved: bool
    """Whether the operator approved the Cargo. Before that, only its owner can see and run it"""
    revision: int
    """Version number, starting at 1"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    updated_at: str
    """Time in UTC, as ISO 8601"""


class OwnedCargoModel(TypedDict):
    url: str
    sha256: str | None
    size_bytes: int | None


class OwnedCargoPricing1(TypedDict):
    prompt: float
    completion: float
    reference: NotRequired[OwnedCargoPricing1Reference]


class OwnedCargoPricing1Reference(TypedDict):
    prompt_tokens: int
    completion_tokens: int


class OwnedCargoPricing2(TypedDict):
    prompt: float
    reference: NotRequired[OwnedCargoPricing2Reference]


class OwnedCargoPricing2Reference(TypedDict):
    prompt_tokens: int


class OwnedCargoPricing3(TypedDict):
    megapixel_step: float
    reference: NotRequired[OwnedCargoPricing3Reference]


class OwnedCargoPricing3Reference(TypedDict):
    width: int
    height: int
    steps: int


class OwnedCargoPricing4(TypedDict):
    audio_second: float
    reference: NotRequired[OwnedCargoPricing4Reference]


class OwnedCargoPricing4Reference(TypedDict):
    seconds: float


class OwnedCargoContainer(TypedDict):
    image: str
    digest: str | None
    command: list[str] | None
    gpu: bool
    network: bool


class OwnedCargoPartsItem(TypedDict):
    url: str
    sha256: str
    size_bytes: int


class OwnedCargoProjector(TypedDict):
    url: str
    sha256: str
    size_bytes: int


class OwnedCargoAdaptersItem(TypedDict):
    url: str
    sha256: str
    size_bytes: NotRequired[int | None]
    scale: NotRequired[float]


class OwnedCargoMemory1(TypedDict):
    layers: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    sequences: int


class OwnedCargoMemory2(TypedDict):
    working_mb: int


class CreateCargo(TypedDict):
    slug: str
    name: str
    description: str
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    licence: str
    required_ram_mb: int
    required_vram_mb: int
    example_input: dict[str, Any]
    """At most 16384 bytes as JSON"""
    price_per_job: NotRequired[float | None]
    onnx_task_type: NotRequired[str | None]
    model: NotRequired[CreateCargoModel | None]
    context_tokens: NotRequired[int | None]
    run_limit_s: NotRequired[float | None]
    wait_limit_s: NotRequired[float | None]
    pricing: NotRequired[CreateCargoPricing1 | CreateCargoPricing2 | CreateCargoPricing3 | CreateCargoPricing4 | None]
    accept_limit_s: NotRequired[float | None]
    start_limit_s: NotRequired[float | None]
    first_output_limit_s: NotRequired[float | None]
    silence_limit_s: NotRequired[float | None]
    min_trust: NotRequired[Literal["any", "proven", "own", None]]
    weights: NotRequired[Literal["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4", None]]
    container: NotRequired[CreateCargoContainer | None]
    args: NotRequired[list[str] | None]
    task: NotRequired[Literal["feature-extraction", "text-ranking", None]]
    parts: NotRequired[list[CreateCargoPartsItem] | None]
    projector: NotRequired[CreateCargoProjector | None]
    reads_images: NotRequired[bool | None]
    adapters: NotRequired[list[CreateCargoAdaptersItem] | None]
    reasoning: NotRequired[bool | None]
    tools: NotRequired[Literal["template", "grammar", None]]
    keep_alive_s: NotRequired[float | None]
    parameters: NotRequired[str | None]
    quantization: NotRequired[str | None]
    memory: NotRequired[CreateCargoMemory1 | CreateCargoMemory2 | None]
    max_output_bytes: NotRequired[int | None]
    input_schema: NotRequired[dict[str, Any] | None]
    output_schema: NotRequired[dict[str, Any] | None]
    enabled: NotRequired[bool]


class CreateCargoModel(TypedDict):
    url: str
    sha256: str | None
    size_bytes: int | None


class CreateCargoPricing1(TypedDict):
    prompt: float
    completion: float
    reference: NotRequired[CreateCargoPricing1Reference]


class CreateCargoPricing1Reference(TypedDict):
    prompt_tokens: int
    completion_tokens: int


class CreateCargoPricing2(TypedDict):
    prompt: float
    reference: NotRequired[CreateCargoPricing2Reference]


class CreateCargoPricing2Reference(TypedDict):
    prompt_tokens: int


class CreateCargoPricing3(TypedDict):
    megapixel_step: float
    reference: NotRequired[CreateCargoPricing3Reference]


class CreateCargoPricing3Reference(TypedDict):
    width: int
    height: int
    steps: int


class CreateCargoPricing4(TypedDict):
    audio_second: float
    reference: NotRequired[CreateCargoPricing4Reference]


class CreateCargoPricing4Reference(TypedDict):
    seconds: float


class CreateCargoContainer(TypedDict):
    image: str
    digest: str | None
    command: list[str] | None
    gpu: bool
    network: bool


class CreateCargoPartsItem(TypedDict):
    url: str
    sha256: str
    size_bytes: int


class CreateCargoProjector(TypedDict):
    url: str
    sha256: str
    size_bytes: int


class CreateCargoAdaptersItem(TypedDict):
    url: str
    sha256: str
    size_bytes: NotRequired[int | None]
    scale: NotRequired[float]


class CreateCargoMemory1(TypedDict):
    layers: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    sequences: int


class CreateCargoMemory2(TypedDict):
    working_mb: int


class ChangeCargo(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    category: NotRequired[Literal["llm", "image", "audio", "vision", "text", "utility"]]
    runtime_type: NotRequired[Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]]
    licence: NotRequired[str]
    required_ram_mb: NotRequired[int]
    required_vram_mb: NotRequired[int]
    example_input: NotRequired[dict[str, Any]]
    """At most 16384 bytes as JSON"""
    price_per_job: NotRequired[float | None]
    onnx_task_type: NotRequired[str | None]
    model: NotRequired[ChangeCargoModel | None]
    context_tokens: NotRequired[int | None]
    run_limit_s: NotRequired[float | None]
    wait_limit_s: NotRequired[float | None]
    pricing: NotRequired[ChangeCargoPricing1 | ChangeCargoPricing2 | ChangeCargoPricing3 | ChangeCargoPricing4 | None]
    accept_limit_s: NotRequired[float | None]
    start_limit_s: NotRequired[float | None]
    first_output_limit_s: NotRequired[float | None]
    silence_limit_s: NotRequired[float | None]
    min_trust: NotRequired[Literal["any", "proven", "own", None]]
    weights: NotRequired[Literal["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4", None]]
    container: NotRequired[ChangeCargoContainer | None]
    args: NotRequired[list[str] | None]
    task: NotRequired[Literal["feature-extraction", "text-ranking", None]]
    parts: NotRequired[list[ChangeCargoPartsItem] | None]
    projector: NotRequired[ChangeCargoProjector | None]
    reads_images: NotRequired[bool | None]
    adapters: NotRequired[list[ChangeCargoAdaptersItem] | None]
    reasoning: NotRequired[bool | None]
    tools: NotRequired[Literal["template", "grammar", None]]
    keep_alive_s: NotRequired[float | None]
    parameters: NotRequired[str | None]
    quantization: NotRequired[str | None]
    memory: NotRequired[ChangeCargoMemory1 | ChangeCargoMemory2 | None]
    max_output_bytes: NotRequired[int | None]
    input_schema: NotRequired[dict[str, Any] | None]
    output_schema: NotRequired[dict[str, Any] | None]
    enabled: NotRequired[bool]


class ChangeCargoModel(TypedDict):
    url: str
    sha256: str | None
    size_bytes: int | None


class ChangeCargoPricing1(TypedDict):
    prompt: float
    completion: float
    reference: NotRequired[ChangeCargoPricing1Reference]


class ChangeCargoPricing1Reference(TypedDict):
    prompt_tokens: int
    completion_tokens: int


class ChangeCargoPricing2(TypedDict):
    prompt: float
    reference: NotRequired[ChangeCargoPricing2Reference]


class ChangeCargoPricing2Reference(TypedDict):
    prompt_tokens: int


class ChangeCargoPricing3(TypedDict):
    megapixel_step: float
    reference: NotRequired[ChangeCargoPricing3Reference]


class ChangeCargoPricing3Reference(TypedDict):
    width: int
    height: int
    steps: int


class ChangeCargoPricing4(TypedDict):
    audio_second: float
    reference: NotRequired[ChangeCargoPricing4Reference]


class ChangeCargoPricing4Reference(TypedDict):
    seconds: float


class ChangeCargoContainer(TypedDict):
    image: str
    digest: str | None
    command: list[str] | None
    gpu: bool
    network: bool


class ChangeCargoPartsItem(TypedDict):
    url: str
    sha256: str
    size_bytes: int


class ChangeCargoProjector(TypedDict):
    url: str
    sha256: str
    size_bytes: int


class ChangeCargoAdaptersItem(TypedDict):
    url: str
    sha256: str
    size_bytes: NotRequired[int | None]
    scale: NotRequired[float]


class ChangeCargoMemory1(TypedDict):
    layers: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    sequences: int


class ChangeCargoMemory2(TypedDict):
    working_mb: int


AccountEvent: TypeAlias = "ResetEvent | JobChangedEvent | IslandChangedEvent | IslandRemovedEvent | BalanceEvent | AccountChangedEvent | OverviewEvent"


class ResetEvent(TypedDict):
    """First event of each stream, also sent when events may have been missed. Read your lists again; later changes follow as events"""

    type: Literal["reset"]


class JobChangedEvent(TypedDict):
    """Sent when a job is new or its state changed. Contains the job's entry in GET /jobs, without workload_id and input"""

    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    created_at: str
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""
    batch_id: str | None
    type: Literal["job"]
    cargo: str
    """Slug of the Cargo, the same as `workload_slug`"""
    code: NotRequired[Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]]
    """Error code of a job that failed or timed out"""
    updated_at: str
    """Time in UTC, as ISO 8601"""


class IslandChangedEvent(TypedDict):
    """Sent when an Island connected, disconnected, was renamed or reported a change. Contains the Island's entry in GET /islands"""

    id: str
    """Host id, a UUID"""
    name: str
    """Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """`paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute"""
    is_live: bool
    """False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at`"""
    suspended_because: str | None
    """Reason given by the operator; null unless the Island is suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandChangedEventRuntimesItem]
    load: IslandLoad | None
    """Null unless the Island is connected"""
    loaded: list[str]
    """Slugs of at most 10 Cargos whose model is in memory"""
    loading: list[str]
    """Slugs of at most 10 Cargos whose model is being loaded into memory"""
    downloads: list[IslandDownload]
    """At most 10 downloads of models and images in progress"""
    running: list[IslandChangedEventRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """Time in UTC, as ISO 8601"""
    last_seen_at: str
    """Time in UTC, as ISO 8601"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of the jobs that ended in the last 30 UTC days"""
    earned: IslandEarnings
    type: Literal["island"]
    online: bool
    """False if the Island's status is `offline`"""


class IslandChangedEventRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class IslandChangedEventRunningItem(TypedDict):
    cargo: str
    since: str
    """Time in UTC, as ISO 8601"""


class IslandHardware(TypedDict):
    """Hardware, limited by the owner's caps. Unknown values are null"""

    platform: str
    arch: str
    os_name: str | None
    cpu_model: str | None
    logical_cores: int
    physical_cores: int | None
    ram_mb: int
    """Memory in MB of 2^20 bytes"""
    gpus: list[IslandHardwareGpusItem]
    disk_free_mb: int | None
    """Memory in MB of 2^20 bytes"""
    disk_budget_mb: int
    """Memory in MB of 2^20 bytes"""


class IslandHardwareGpusItem(TypedDict):
    vendor: str | None
    name: str
    vram_mb: int | None
    """Memory in MB of 2^20 bytes"""
    unified_memory: bool
    driver: str | None


class IslandLoad(TypedDict):
    """Most recent report of the Island, which sends one every 10 s. Unknown values are null"""

    slots: int
    """Maximum number of jobs that the Island runs at the same time"""
    slots_busy: int
    cpu: float | None
    """CPU load of all cores together, from 0 to 1"""
    gpu: float | None
    """Load of the busiest graphics card, from 0 to 1"""
    free_ram_mb: int | None
    """Memory in MB of 2^20 bytes"""
    free_vram_mb: int | None
    """Memory in MB of 2^20 bytes"""
    temperature_c: float | None
    """Temperature of the hottest processor or graphics card, in degrees Celsius"""


class IslandDownload(TypedDict):
    """A download, as the Island last reported it. Unknown values are null"""

    cargo: str
    """Slug of the Cargo"""
    fraction: float | None
    """Progress, from 0 to 1; null while the size is unknown"""
    received_bytes: int | None
    total_bytes: int | None
    bytes_per_second: int | None
    """Average speed of the last 10 s"""


class IslandUptime(TypedDict):
    """Share of the time that the Island was connected, from 0 to 1, in the current UTC day and the last 7 and 30 UTC days. The time before it was first seen does not count. Stored once a minute, so that a crash of a coordinator loses up to a minute"""

    today: float | None
    days_7: float | None
    days_30: float | None


class IslandJobs(TypedDict):
    """Numbers of jobs that ended on this Island in the last 30 UTC days; stored once a minute"""

    completed: int
    failed: int
    cancelled: int
    timeout: int
    retried: int
    """Number of attempts that failed or were lost on this Island and were retried"""


class IslandEarnings(TypedDict):
    """Earnings in the current UTC day and the last 7 and 30 UTC days, by the time of the ledger entry"""

    today: float
    """Credits, with up to 6 decimals"""
    days_7: float
    """Credits, with up to 6 decimals"""
    days_30: float
    """Credits, with up to 6 decimals"""


class Island(TypedDict):
    id: str
    """Host id, a UUID"""
    name: str
    """Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """`paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute"""
    is_live: bool
    """False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at`"""
    suspended_because: str | None
    """Reason given by the operator; null unless the Island is suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandRuntimesItem]
    load: IslandLoad | None
    """Null unless the Island is connected"""
    loaded: list[str]
    """Slugs of at most 10 Cargos whose model is in memory"""
    loading: list[str]
    """Slugs of at most 10 Cargos whose model is being loaded into memory"""
    downloads: list[IslandDownload]
    """At most 10 downloads of models and images in progress"""
    running: list[IslandRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """Time in UTC, as ISO 8601"""
    last_seen_at: str
    """Time in UTC, as ISO 8601"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of the jobs that ended in the last 30 UTC days"""
    earned: IslandEarnings


class IslandRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class IslandRunningItem(TypedDict):
    cargo: str
    since: str
    """Time in UTC, as ISO 8601"""


class IslandRemovedEvent(TypedDict):
    """The Island was removed from GET /islands"""

    type: Literal["island_removed"]
    id: str


class BalanceEvent(TypedDict):
    """The balance changed. `balance` is `credits` of GET /account"""

    type: Literal["balance"]
    balance: float
    """Credits, with up to 6 decimals"""


class AccountChangedEvent(TypedDict):
    """The account's e-mail address, role, limits, API keys, sessions or Island tokens changed. The event carries `data` of GET /account. Reload any keys, sessions or tokens that you display"""

    id: str
    email: str
    credits: float
    """Credits, with up to 6 decimals"""
    role: Literal["user", "operator"]
    created_at: str
    """Time in UTC, as ISO 8601"""
    type: Literal["account"]


class Account(TypedDict):
    id: str
    email: str
    credits: float
    """Credits, with up to 6 decimals"""
    role: Literal["user", "operator"]
    created_at: str
    """Time in UTC, as ISO 8601"""


class OverviewEvent(TypedDict):
    """Totals over all coordinators, at most 1.5 s old. The count of known Islands is cached for 1 ms per Island: with 5,000 Islands it is at most 5 s old"""

    islands: OverviewEventIslands
    slots: OverviewEventSlots
    """Numbers of slots on Islands that accept new jobs"""
    jobs: OverviewEventJobs
    waiting_by_reason: list[OverviewEventWaitingByReasonItem]
    tokens_per_second: float
    first_token_ms: OverviewEventFirstTokenMs
    """Median and 99th percentile of the time from a job's submission, or its admission in a batch, to its first token, for jobs that ended in the last minute; accurate to 5 %. Null without such jobs"""
    errors_last_minute: int
    """Number of jobs that failed or timed out in the last minute"""
    work_last_10_minutes: NetworkWork
    coordinators: list[CoordinatorOverview]
    is_complete: bool
    """False if a coordinator did not reply; the totals exclude it"""
    type: Literal["overview"]


class OverviewEventIslands(TypedDict):
    online: int
    known: int


class OverviewEventSlots(TypedDict):
    """Numbers of slots on Islands that accept new jobs"""

    free: int
    all: int


class OverviewEventJobs(TypedDict):
    running: int
    waiting: int
    finished_last_minute: int


class OverviewEventWaitingByReasonItem(TypedDict):
    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    jobs: int


class OverviewEventFirstTokenMs(TypedDict):
    """Median and 99th percentile of the time from a job's submission, or its admission in a batch, to its first token, for jobs that ended in the last minute; accurate to 5 %. Null without such jobs"""

    p50: float | None
    p99: float | None


class NetworkWork(TypedDict):
    """Work of jobs that ended in the last 10 minutes"""

    prompt_tokens: int
    cached_prompt_tokens: int
    """Prompt tokens that Islands had in their caches. For an agent that does not report them, the number that the coordinator expected"""
    islands: list[NetworkWorkIslandsItem]
    """The 20 connected Islands with the most completion tokens"""


class NetworkWorkIslandsItem(TypedDict):
    island_id: str
    slots: int
    completion_tokens: int
    """Tokens of attempts that ended"""
    cached_prompt_tokens: int


class CoordinatorOverview(TypedDict):
    id: str | None
    """Null if there is only one coordinator"""
    address: str
    version: str
    answers: bool
    """False if the coordinator did not reply in time; the totals exclude it"""
    islands: int
    slots: CoordinatorOverviewSlots
    jobs: CoordinatorOverviewJobs


class CoordinatorOverviewSlots(TypedDict):
    free: int
    all: int


class CoordinatorOverviewJobs(TypedDict):
    running: int
    waiting: int


class NetworkOverview(TypedDict):
    """Totals over all coordinators, at most 1.5 s old. The count of known Islands is cached for 1 ms per Island: with 5,000 Islands it is at most 5 s old"""

    islands: NetworkOverviewIslands
    slots: NetworkOverviewSlots
    """Numbers of slots on Islands that accept new jobs"""
    jobs: NetworkOverviewJobs
    waiting_by_reason: list[NetworkOverviewWaitingByReasonItem]
    tokens_per_second: float
    first_token_ms: NetworkOverviewFirstTokenMs
    """Median and 99th percentile of the time from a job's submission, or its admission in a batch, to its first token, for jobs that ended in the last minute; accurate to 5 %. Null without such jobs"""
    errors_last_minute: int
    """Number of jobs that failed or timed out in the last minute"""
    work_last_10_minutes: NetworkWork
    coordinators: list[CoordinatorOverview]
    is_complete: bool
    """False if a coordinator did not reply; the totals exclude it"""


class NetworkOverviewIslands(TypedDict):
    online: int
    known: int


class NetworkOverviewSlots(TypedDict):
    """Numbers of slots on Islands that accept new jobs"""

    free: int
    all: int


class NetworkOverviewJobs(TypedDict):
    running: int
    waiting: int
    finished_last_minute: int


class NetworkOverviewWaitingByReasonItem(TypedDict):
    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    jobs: int


class NetworkOverviewFirstTokenMs(TypedDict):
    """Median and 99th percentile of the time from a job's submission, or its admission in a batch, to its first token, for jobs that ended in the last minute; accurate to 5 %. Null without such jobs"""

    p50: float | None
    p99: float | None


class ChangeAccount(TypedDict):
    current_password: str
    password: NotRequired[str]
    email: NotRequired[str]


class LedgerLine(TypedDict):
    id: int
    """Id of the entry; increases with time"""
    kind: Literal["grant", "correction", "refund", "hold", "charge", "release", "earning"]
    """`grant`: an operator or the registration gave credits. `correction`: an operator took credits back. `hold`: credits were reserved for a submitted job. `charge`: credits were taken from the hold. `release`: credits returned from the hold. `earning`: an Island of the account ran a job"""
    amount: float
    """Change of `credits`; negative for a decrease"""
    held: float
    """Change of the credits held for unfinished jobs"""
    balance: float
    """`credits` of the account after this entry"""
    job_id: str | None
    """Id of the job; for an earning, a job of any account"""
    batch_id: str | None
    """Id of the batch, only for the hold of a whole batch; its jobs are charged and released separately"""
    workload_slug: str | None
    """Slug of the Cargo of the job or batch"""
    note: str | None
    """The operator's note on a grant or correction"""
    created_at: str
    """Time in UTC, as ISO 8601"""


class UsageLine(TypedDict):
    day: str | None
    """UTC day on which the jobs ended"""
    kind: Literal["spent", "earned"]
    """`spent`: charged for jobs. `earned`: earned by Islands of the account"""
    workload_slug: str | None
    api_key_id: str | None
    """API key that submitted the jobs; null for a session and for earnings"""
    jobs: int
    """Number of jobs with a charge or an earning"""
    prompt_tokens: int
    completion_tokens: int
    credits: float
    """Credits, with up to 6 decimals"""


class Session(TypedDict):
    token: str
    """Session token (st_…), which has every scope and can manage keys"""
    expires_at: str
    """Time in UTC, as ISO 8601"""
    account: Account


class CookieSession(TypedDict):
    """A session whose token is only in the cookie `atoll_session`"""

    expires_at: str
    """Time in UTC, as ISO 8601"""
    account: Account


class Credentials(TypedDict):
    email: str
    password: str


class EmailProof(TypedDict):
    password: str
    token: str
    """Token (ep_…) from the e-mail"""


class AccountSession(TypedDict):
    id: str
    created_at: str
    """Time in UTC, as ISO 8601"""
    last_used_at: str | None
    """Time in UTC, as ISO 8601, accurate to a minute; null if the session was never used"""
    expires_at: str
    """Time in UTC, as ISO 8601"""
    current: bool
    """Whether this is the session of the request"""


class ApiKey(TypedDict):
    id: str
    name: str
    scopes: list[Literal["read", "write"]]
    created_at: str
    """Time in UTC, as ISO 8601"""
    prefix: str
    expires_at: str | None
    """Time in UTC, as ISO 8601"""
    cargos: list[str] | None
    credits_per_month: float | None
    """Credits, with up to 6 decimals"""
    trust: Literal["any", "proven", "own", None]
    """Trust of jobs that name none in their request; null for `any`"""
    last_used_at: str | None
    """Time in UTC, as ISO 8601"""
    credits_this_month: float | None
    """Credits that the key has spent this month; null for a key without `credits_per_month`"""


class CreatedApiKey(TypedDict):
    data: CreatedApiKeyData
    key: str
    """Secret (ak_…), which is shown only here"""
    id: str
    name: str
    scopes: list[Literal["read", "write"]]
    created_at: str
    """Time in UTC, as ISO 8601"""


class CreatedApiKeyData(TypedDict):
    id: str
    name: str
    scopes: list[Literal["read", "write"]]
    created_at: str
    """Time in UTC, as ISO 8601"""
    prefix: str
    expires_at: str | None
    """Time in UTC, as ISO 8601"""
    cargos: list[str] | None
    credits_per_month: float | None
    """Credits, with up to 6 decimals"""
    trust: Literal["any", "proven", "own", None]
    """Trust of jobs that name none in their request; null for `any`"""
    key: str
    """Secret (ak_…), which is shown only here"""


class CreateApiKey(TypedDict):
    name: NotRequired[str]
    expires_at: NotRequired[str | None]
    """When the key expires (401 key_expired); null if it never expires"""
    cargos: NotRequired[list[str] | None]
    """Slugs of the Cargos that the key may run; others are refused with 403 cargo_not_allowed. Null if it may run all"""
    credits_per_month: NotRequired[float | None]
    """Maximum credits that the key's jobs may cost in a calendar month (UTC), charged or held; above it, jobs are refused with 402 key_credits_exceeded. Null for no limit"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Trust of the key's jobs that name none in their request; null for `any`"""


class ChangeApiKey(TypedDict):
    name: NotRequired[str]
    expires_at: NotRequired[str | None]
    """When the key expires (401 key_expired); null if it never expires"""
    cargos: NotRequired[list[str] | None]
    """Slugs of the Cargos that the key may run; others are refused with 403 cargo_not_allowed. Null if it may run all"""
    credits_per_month: NotRequired[float | None]
    """Maximum credits that the key's jobs may cost in a calendar month (UTC), charged or held; above it, jobs are refused with 402 key_credits_exceeded. Null for no limit"""
    trust: NotRequired[Literal["any", "proven", "own", None]]
    """Trust of the key's jobs that name none in their request; null for `any`"""


class IslandToken(TypedDict):
    id: str
    name: str
    created_at: str
    """Time in UTC, as ISO 8601"""
    last_used_at: str | None
    """When an Island last started a session with the token; a session can last for weeks"""


class CreateIslandToken(TypedDict):
    name: NotRequired[str]
    """Name of the token. Default: "Island token" """


class PairingCode(TypedDict):
    code: str
    """Eight letters and digits, without 0, 1, I and O"""
    name: str
    """Name of the token for which the code is exchanged"""
    expires_at: str
    """Time in UTC, as ISO 8601"""


class IslandDetail(TypedDict):
    id: str
    """Host id, a UUID"""
    name: str
    """Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """`paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute"""
    is_live: bool
    """False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at`"""
    suspended_because: str | None
    """Reason given by the operator; null unless the Island is suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandDetailRuntimesItem]
    load: IslandLoad | None
    """Null unless the Island is connected"""
    loaded: list[str]
    """Slugs of at most 10 Cargos whose model is in memory"""
    loading: list[str]
    """Slugs of at most 10 Cargos whose model is being loaded into memory"""
    downloads: list[IslandDownload]
    """At most 10 downloads of models and images in progress"""
    running: list[IslandDetailRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """Time in UTC, as ISO 8601"""
    last_seen_at: str
    """Time in UTC, as ISO 8601"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of the jobs that ended in the last 30 UTC days"""
    earned: IslandEarnings
    days: list[IslandDay]
    """The last 30 UTC days including today, oldest first, without gaps"""
    cached_cargos: list[str]
    """Slugs of enabled Cargos whose model or image is on the Island's disk; empty unless it is connected"""
    cached_models: list[str]
    """At most 200 models and images on the Island's disk; empty unless it is connected"""
    engine_models: list[EngineModel]
    """At most 50 models of the engines that the host lends; empty unless the Island is connected"""
    standings: list[Standing]
    """Standings of the owner, which are those of all its Islands: at most 100 Cargos with audits or held earnings, sorted by slug"""


class IslandDetailRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class IslandDetailRunningItem(TypedDict):
    cargo: str
    since: str
    """Time in UTC, as ISO 8601"""


class IslandDay(TypedDict):
    day: str
    """Day in UTC"""
    uptime: float | None
    """Share of the day that the Island was connected, from 0 to 1; null before it was first seen"""
    jobs: IslandDayJobs
    tokens: int
    earned: float
    """Credits, with up to 6 decimals"""


class IslandDayJobs(TypedDict):
    completed: int
    failed: int
    cancelled: int
    timeout: int
    retried: int
    """Number of attempts that failed or were lost on this Island and were retried"""


class EngineModel(TypedDict):
    """A model that an engine of the host serves. Unknown values are null"""

    name: str
    """Name in the engine if the model is declared; otherwise `sha256:` and the hash of its file, or its repository and commit on the hub"""
    declared: bool
    """Whether the engine only declares its name: nothing proves what the model is"""
    cargos: list[str]
    """Slugs of the enabled Cargos whose jobs the engine runs with the model"""
    context_length: int | None
    """Maximum number of tokens in prompt and completion of a job"""
    parameters: str | None
    """Number of parameters, such as 8B"""
    quantization: str | None
    """Quantisation of the weights, such as Q4_K_M"""
    busy: bool
    """Whether other clients of the engine use all its slots"""


class Standing(TypedDict):
    """What audits found out about the owner's Islands with one Cargo"""

    cargo: str
    """Slug of the Cargo"""
    state: Literal["new", "proven", "trusted", "quarantined"]
    """`new`: each answer that can be judged is audited, and earnings are held. `proven`: some answers are audited, and earnings are held for at most a day. `trusted`: nothing is audited or held. `quarantined`: the owner's Islands get no jobs of the Cargo"""
    streak: int
    """Number of consistent audits in a row"""
    reason: str | None
    """Reason of the last change by an operator, or of the quarantine; else null"""
    proven_after: int
    """Number of consistent audits in a row after which a new owner is proven"""
    held_credits: float
    """Earnings that are held until audits confirm the owner's answers"""
    audits: StandingAudits
    """Numbers of audits by verdict, for jobs of the last 90 days"""


class StandingAudits(TypedDict):
    """Numbers of audits by verdict, for jobs of the last 90 days"""

    consistent: int
    inconsistent: int
    unclear: int


class RenameIsland(TypedDict):
    name: str
    """New name; an empty name restores the default"""


class Recommendation(TypedDict):
    workload_slug: str
    model_url: str
    model_hash: str | None
    """SHA-256 of the model, or digest of the image; null if it is not pinned"""
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    estimated_earnings_per_job: str
    """Credits, as a decimal number"""
    queued_demand: int
    """Number of jobs that wait for the Cargo"""
    demand_score: int
    """10 for each waiting job, and 2 for each job completed in the last hour"""
    is_default: bool
    """Whether chats without `model` use the Cargo"""


class QueueLine(TypedDict):
    workload_slug: str
    only_islands_of: str | None
    """Id of the only account whose Islands may run the jobs, because the Cargo is not approved; null if all Islands may"""
    jobs: int
    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    message: str
    """Why the oldest job waits, according to the coordinator that has the most of these jobs"""
    waiting_since: str
    """When the oldest job started to wait"""


class KnownJob(TypedDict):
    """A job without its input and output, which operators cannot see"""

    id: str
    account_id: str
    account_email: str | None
    """Null for a deleted account"""
    batch_id: str | None
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    chat: bool
    """Whether a client waits for the completion"""
    priority: int
    attempts: int
    """Number of attempts so far"""
    island_id: str | None
    error_code: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    price: float
    """Credits, with up to 6 decimals"""
    credits_used: float
    """Credits, with up to 6 decimals"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    started_at: str | None
    """Time in UTC, as ISO 8601"""
    completed_at: str | None
    """Time in UTC, as ISO 8601"""


class AuditLine(TypedDict):
    id: int
    """Id of the entry; increases with time"""
    at: str
    """Time in UTC, as ISO 8601"""
    via: Literal["api", "command"]
    actor: str
    """The operator's account; for a command, the user of the operating system"""
    actor_email: str | None
    """Null for a command and for a deleted account"""
    origin: str
    """The client's address; for a command, the machine's name"""
    action: str
    """Name of the action, which ends in `.failed` if the action was refused"""
    target: AuditLineTarget
    before: NotRequired[Any]
    """Values before the action, or null"""
    after: NotRequired[Any]
    """Values that the action set, the error of a refused action, or null"""


class AuditLineTarget(TypedDict):
    kind: Literal["account", "announcement", "cargo", "coordinator", "island", "job"]
    id: str


class SettingInForce(TypedDict):
    key: str
    value: str | None
    """Value in the unit of the key; `(hidden)` for a secret; null if the setting is not set"""
    source: Literal["flag", "environment", "file", "default"]
    default: str
    """Default value, or the meaning if the setting is not set"""
    environment: str
    """Name of the environment variable"""
    allowed: str
    meaning: str


class KnownAccount(TypedDict):
    id: str
    email: str
    role: Literal["user", "operator"]
    credits: float
    """Credits, with up to 6 decimals"""
    held: float
    """Credits held for unfinished jobs"""
    unfinished_jobs: int
    islands: int
    """Number of the account's Islands, connected or not"""
    suspended: Suspension | None
    created_at: str
    """Time in UTC, as ISO 8601"""


class Suspension(TypedDict):
    reason: str
    since: str
    """Time in UTC, as ISO 8601"""


class KnownAccountDetail(TypedDict):
    id: str
    email: str
    role: Literal["user", "operator"]
    credits: float
    """Credits, with up to 6 decimals"""
    held: float
    """Credits held for unfinished jobs"""
    unfinished_jobs: int
    islands: int
    """Number of the account's Islands, connected or not"""
    suspended: Suspension | None
    created_at: str
    """Time in UTC, as ISO 8601"""
    limits: AccountLimits


class AccountLimits(TypedDict):
    requests_per_minute: int
    """Maximum requests of each key and each session"""
    concurrent_jobs: int
    """Maximum number of unfinished jobs"""
    concurrent_streams: int
    """Maximum number of open streams"""
    share: int
    """Weight of the account when slot time is shared between accounts"""


class SetAccountLimits(TypedDict):
    requests_per_minute: NotRequired[int | None]
    """If omitted, the limit does not change; null restores the default"""
    concurrent_jobs: NotRequired[int | None]
    """If omitted, the limit does not change; null restores the default"""
    concurrent_streams: NotRequired[int | None]
    """If omitted, the limit does not change; null restores the default"""
    share: NotRequired[int | None]
    """If omitted, the limit does not change; null restores the default"""


class GrantCredits(TypedDict):
    credits: float
    """Credits to add; a negative number takes credits back. Must not be 0"""
    note: NotRequired[str]
    """Note that the account sees in its ledger"""


class Suspend(TypedDict):
    reason: str
    """Reason that is shown to the suspended account"""


class KnownIsland(TypedDict):
    id: str
    """Host id, a UUID"""
    name: str
    """Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """`paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute"""
    is_live: bool
    """False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at`"""
    suspended_because: str | None
    """Reason given by the operator; null unless the Island is suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[KnownIslandRuntimesItem]
    load: IslandLoad | None
    """Null unless the Island is connected"""
    loaded: list[str]
    """Slugs of at most 10 Cargos whose model is in memory"""
    loading: list[str]
    """Slugs of at most 10 Cargos whose model is being loaded into memory"""
    downloads: list[IslandDownload]
    """At most 10 downloads of models and images in progress"""
    running: list[KnownIslandRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """Time in UTC, as ISO 8601"""
    last_seen_at: str
    """Time in UTC, as ISO 8601"""
    account_id: str
    """Id of the owner's account"""
    account_email: str | None


class KnownIslandRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class KnownIslandRunningItem(TypedDict):
    cargo: str
    since: str
    """Time in UTC, as ISO 8601"""


class KnownIslandDetail(TypedDict):
    id: str
    """Host id, a UUID"""
    name: str
    """Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """`paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute"""
    is_live: bool
    """False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at`"""
    suspended_because: str | None
    """Reason given by the operator; null unless the Island is suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[KnownIslandDetailRuntimesItem]
    load: IslandLoad | None
    """Null unless the Island is connected"""
    loaded: list[str]
    """Slugs of at most 10 Cargos whose model is in memory"""
    loading: list[str]
    """Slugs of at most 10 Cargos whose model is being loaded into memory"""
    downloads: list[IslandDownload]
    """At most 10 downloads of models and images in progress"""
    running: list[KnownIslandDetailRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """Time in UTC, as ISO 8601"""
    last_seen_at: str
    """Time in UTC, as ISO 8601"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of the jobs that ended in the last 30 UTC days"""
    earned: IslandEarnings
    days: list[IslandDay]
    """The last 30 UTC days including today, oldest first, without gaps"""
    cached_cargos: list[str]
    """Slugs of enabled Cargos whose model or image is on the Island's disk; empty unless it is connected"""
    cached_models: list[str]
    """At most 200 models and images on the Island's disk; empty unless it is connected"""
    engine_models: list[EngineModel]
    """At most 50 models of the engines that the host lends; empty unless the Island is connected"""
    standings: list[Standing]
    """Standings of the owner, which are those of all its Islands: at most 100 Cargos with audits or held earnings, sorted by slug"""
    account_id: str
    """Id of the owner's account"""
    account_email: str | None


class KnownIslandDetailRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class KnownIslandDetailRunningItem(TypedDict):
    cargo: str
    since: str
    """Time in UTC, as ISO 8601"""


class KnownStanding(TypedDict):
    account_id: str
    """Id of the owner's account"""
    account_email: str | None
    """Null for a deleted account"""
    cargo: str
    """Slug of the Cargo"""
    state: Literal["new", "proven", "trusted", "quarantined"]
    """`new`: each answer that can be judged is audited, and earnings are held. `proven`: some answers are audited, and earnings are held for at most a day. `trusted`: nothing is audited or held. `quarantined`: the owner's Islands get no jobs of the Cargo"""
    streak: int
    """Number of consistent audits in a row"""
    reason: str | None
    """Reason of the last change by an operator, or of the quarantine; else null"""
    changed_at: str
    """Time in UTC, as ISO 8601"""


class SetStanding(TypedDict):
    state: Literal["new", "proven", "trusted", "quarantined"]
    reason: str
    """Reason that the owner sees"""


class KnownCargo(TypedDict):
    slug: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine", None]
    status: Literal["offered", "waiting", "unpinned", "off", "disabled", "hidden"]
    origin: Literal["shipped", "imported", "owned"]
    owner_id: str | None
    owner_email: str | None
    pinned: bool | None
    """Whether a hash pins the Cargo to exact bytes; null for a Cargo that is invalid in this version"""
    price_per_job: float | None
    """Current price for new jobs; null for a Cargo that is invalid in this version"""
    shipped_price_per_job: float | None
    """Price in the shipped catalog; null for other Cargos"""


class AddedModel(TypedDict):
    slug: str
    revision: str
    added: bool
    source: str
    commit: str | None
    """Commit of the repository; null unless the model is on the hub"""
    licence: str
    gated: bool
    """Whether Islands need a models.hub_token whose account has accepted the terms"""
    architecture: str
    trained_context_tokens: int
    islands: ModelIslands
    cargo: dict[str, Any]
    """The whole definition; see docs/reference/cargo-format.md"""


class ModelIslands(TypedDict):
    online: int
    fitting: int
    """Those that have the runtime and the memory"""


class AddModel(TypedDict):
    source: str
    """hf.co/USER/REPO[:QUANT], an address of a file on the hub, or ollama:NAME[:TAG]"""
    slug: NotRequired[str]
    """Default: from the name of the model"""
    context_tokens: NotRequired[int]
    """Default: 4,096, or less if the model was trained for less"""
    slots: NotRequired[int]
    """Concurrent jobs for which memory is computed; default 4"""
    price_per_job: NotRequired[float]
    """Default: by the number of parameters"""
    projector: NotRequired[bool]
    """False: without the projector for images"""
    dry_run: NotRequired[bool]
    """True: look up the model, and add nothing"""
    revision: NotRequired[str]
    """`revision` of a preview; the model is added only if it still has it"""


class CargoReview(TypedDict):
    slug: str
    name: str
    description: str
    status: Literal["offered", "waiting", "unpinned", "off", "disabled", "hidden"]
    origin: Literal["shipped", "imported", "owned"]
    owner_id: str | None
    owner_email: str | None
    revision: str
    """Hash of `cargo`, which the approval must repeat"""
    pin: CargoPin | None
    """Hash or digest that pins the Cargo to exact bytes; its `value` is null while the Cargo is not pinned. Null if the Cargo downloads nothing"""
    approval: CargoApproval | None
    """Most recent approval, of this definition or an earlier one; null before the first"""
    price_per_job: float
    """Current price for new jobs"""
    shipped_price_per_job: float | None
    """Price in the shipped catalog; null for other Cargos"""
    pricing: Pricing | None
    """Current prices by size; null if each job costs `price_per_job`"""
    signs: SignedCargo
    cargo: dict[str, Any]
    """Complete definition, as in docs/reference/cargo-format.md"""


class CargoPin(TypedDict):
    kind: Literal["image_digest", "model_hash", "model_commit"]
    value: str | None


class CargoApproval(TypedDict):
    revision: str
    by: str
    """Id of the operator's account, or user of the operating system"""
    at: str
    """Time in UTC, as ISO 8601"""


class SignedCargo(TypedDict):
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    image: str | None
    image_digest: str | None
    """Digest of the image; null if the Cargo has no image, or only a tag names it"""
    command: list[str] | None
    """Command of the container; null if the image's own command runs"""
    network: bool
    """Whether the job can reach the public internet"""
    gpu: bool
    model_url: str | None
    model_hash: str | None
    model_commit: str | None
    model_bytes: int | None
    args: list[str] | None
    required_ram_mb: float
    required_vram_mb: float
    price_per_job: float
    """Credits, with up to 6 decimals"""


class CargoPins(TypedDict):
    image_digest: NotRequired[str]
    """Digest (sha256:…) of the image's manifest"""
    model_hash: NotRequired[str]
    """SHA-256 of the model's file or `files.json`, in hexadecimal"""
    model_commit: NotRequired[str]
    """Commit of the model's folder on the hub"""


class ApproveCargo(TypedDict):
    image_digest: NotRequired[str]
    """Digest (sha256:…) of the image's manifest"""
    model_hash: NotRequired[str]
    """SHA-256 of the model's file or `files.json`, in hexadecimal"""
    model_commit: NotRequired[str]
    """Commit of the model's folder on the hub"""
    revision: str


class SetCargoPrice(TypedDict):
    price_per_job: float | None
    """New price; null restores the shipped price"""


class Announcement(TypedDict):
    id: str
    level: Literal["info", "warning"]
    text: str
    """Plain text"""
    created_at: str
    """Time in UTC, as ISO 8601"""
    until: str | None
    """When the announcement expires; null if it is shown until an operator removes it"""


class AddAnnouncement(TypedDict):
    level: NotRequired[Literal["info", "warning"]]
    text: str
    until: NotRequired[str | None]
    """When the announcement expires. If omitted or null, it is shown until an operator removes it"""


class Network(TypedDict):
    islands_online: int
    cargos: list[AvailableCargo]
    """Public Cargos that Islands can run now, by slug. GET /cargos lists all Cargos"""
    is_complete: bool
    """False if a coordinator did not reply, so that its Islands are missing"""
    registration: Literal["open", "email", "closed"]
    """Registration of accounts: open to anyone, open with a confirmed e-mail address, or closed"""
    new_account_credits: float
    """Credits of a new account"""


class Downloads(TypedDict):
    public_url: str | None
    """URL at which other machines reach the coordinator; null if the operator has not set it"""
    files: list[Download]


class Download(TypedDict):
    name: str
    path: str
    """Path on the coordinator; with `.sha256` appended, the path of the hash"""
    package: Literal["island", "client"]
    """The agent for hosts, or a client library"""
    format: Literal["npm", "deb", "wheel"]
    """`npm` is for `npm install`, `deb` for `apt install`, and `wheel` for `pip install`"""
    version: str
    size_bytes: int
    sha256: str
    """SHA-256 in hexadecimal"""


class ListJobsAnswer(TypedDict):
    data: list[ListedJob]
    meta: ListJobsAnswerMeta


class ListJobsAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class SubmitJobAnswer(TypedDict):
    data: SubmittedJob


class GetJobAnswer(TypedDict):
    data: Job


class CancelJobAnswer(TypedDict):
    data: CancelJobAnswerData


class CancelJobAnswerData(TypedDict):
    id: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]


class DeleteJobContentAnswer(TypedDict):
    data: DeleteJobContentAnswerData


class DeleteJobContentAnswerData(TypedDict):
    id: str
    deleted: Literal[True]


class SubmitBatchAnswer(TypedDict):
    data: SubmittedBatch


class GetBatchAnswer(TypedDict):
    data: Batch


class CancelBatchAnswer(TypedDict):
    data: Batch


class GetJobOutputAnswer(TypedDict):
    data: JobOutput


class DeleteResponseAnswer(TypedDict):
    id: str
    object: Literal["response"]
    deleted: Literal[True]


class ListModelsAnswer(TypedDict):
    object: Literal["list"]
    data: list[Model]


class ListConversationsAnswer(TypedDict):
    data: list[Conversation]
    meta: ListConversationsAnswerMeta


class ListConversationsAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class CreateConversationAnswer(TypedDict):
    data: Conversation


class GetConversationAnswer(TypedDict):
    data: ConversationWithMessages
    meta: GetConversationAnswerMeta
    """Position in the messages, and their total number"""


class GetConversationAnswerMeta(TypedDict):
    """Position in the messages, and their total number"""

    total: int
    limit: int
    offset: int


class UpdateConversationAnswer(TypedDict):
    data: Conversation


class DeleteConversationAnswer(TypedDict):
    data: DeleteConversationAnswerData


class DeleteConversationAnswerData(TypedDict):
    id: str
    deleted: Literal[True]


class PostMessageAnswer(TypedDict):
    data: AnsweredMessage


class ListAvailabilityAnswer(TypedDict):
    data: list[AvailableCargo]
    is_complete: bool
    """False if a coordinator did not reply, so that its Islands are missing"""


class ListCargosAnswer(TypedDict):
    cargos: list[Cargo]
    count: int


class CreateCargoAnswer(TypedDict):
    data: OwnedCargo


class GetCargoAnswer(TypedDict):
    data: CargoDetail


class ChangeCargoAnswer(TypedDict):
    data: OwnedCargo


class DeleteCargoAnswer(TypedDict):
    data: DeleteCargoAnswerData


class DeleteCargoAnswerData(TypedDict):
    slug: str
    deleted: Literal[True]


class ListOwnCargosAnswer(TypedDict):
    data: list[OwnedCargo]
    meta: ListOwnCargosAnswerMeta


class ListOwnCargosAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class GetAccountAnswer(TypedDict):
    data: Account


class ChangeAccountAnswer(TypedDict):
    data: ChangeAccountAnswerData


class ChangeAccountAnswerData(TypedDict):
    id: str
    email: str
    credits: float
    """Credits, with up to 6 decimals"""
    role: Literal["user", "operator"]
    created_at: str
    """Time in UTC, as ISO 8601"""
    pending_email: str | None
    """New e-mail address that is not confirmed yet"""


class DeleteAccountAnswer(TypedDict):
    data: DeleteAccountAnswerData


class DeleteAccountAnswerData(TypedDict):
    id: str
    deleted: Literal[True]
    kept: list[str]
    """Data that is kept for accounting, under the account's id"""


class ConfirmEmailAnswer(TypedDict):
    data: ConfirmEmailAnswerData


class ConfirmEmailAnswerData(TypedDict):
    email_changed: Literal[True]


class ListLedgerAnswer(TypedDict):
    data: list[LedgerLine]
    meta: ListLedgerAnswerMeta


class ListLedgerAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class GetUsageAnswer(TypedDict):
    data: list[UsageLine]
    meta: GetUsageAnswerMeta


GetUsageAnswerMeta = TypedDict("GetUsageAnswerMeta", {
    "total": "int",
    "limit": "int",
    "offset": "int",
    "from": "str",
    "to": "str",
    "spent": "float",
    "earned": "float",
})


class RegisterAnswer1(TypedDict):
    data: Session | CookieSession


class RegisterAnswer2(TypedDict):
    data: RegisterAnswer2Data


class RegisterAnswer2Data(TypedDict):
    accepted: Literal[True]


RegisterAnswer: TypeAlias = "RegisterAnswer1 | RegisterAnswer2"


class VerifyEmailAnswer(TypedDict):
    data: Session | CookieSession


class LoginAnswer(TypedDict):
    data: Session | CookieSession


class LogoutAnswer(TypedDict):
    data: LogoutAnswerData


class LogoutAnswerData(TypedDict):
    logged_out: Literal[True]


class ListSessionsAnswer(TypedDict):
    data: list[AccountSession]


class EndSessionAnswer(TypedDict):
    data: EndSessionAnswerData


class EndSessionAnswerData(TypedDict):
    id: str
    ended: Literal[True]


class ChangePasswordAnswer(TypedDict):
    data: ChangePasswordAnswerData


class ChangePasswordAnswerData(TypedDict):
    password_changed: Literal[True]


class RequestPasswordResetAnswer(TypedDict):
    data: RequestPasswordResetAnswerData


class RequestPasswordResetAnswerData(TypedDict):
    accepted: Literal[True]


class ResetPasswordAnswer(TypedDict):
    data: ResetPasswordAnswerData


class ResetPasswordAnswerData(TypedDict):
    password_changed: Literal[True]


class ListApiKeysAnswer(TypedDict):
    data: list[ApiKey]


class ChangeApiKeyAnswer(TypedDict):
    data: ApiKey


class RevokeApiKeyAnswer(TypedDict):
    data: RevokeApiKeyAnswerData


class RevokeApiKeyAnswerData(TypedDict):
    id: str
    revoked: Literal[True]


class ListIslandTokensAnswer(TypedDict):
    data: list[IslandToken]


class CreateIslandTokenAnswer(TypedDict):
    data: IslandToken
    token: str
    """Secret (it_…), which is shown only here"""


class CreatePairingCodeAnswer(TypedDict):
    data: PairingCode


class RevokeIslandTokenAnswer(TypedDict):
    data: RevokeIslandTokenAnswerData


class RevokeIslandTokenAnswerData(TypedDict):
    id: str
    revoked: Literal[True]


class PairIslandAnswer(TypedDict):
    data: PairIslandAnswerData


class PairIslandAnswerData(TypedDict):
    id: str
    name: str
    token: str
    """Secret (it_…), which is shown only here"""
    account_id: str


class ListIslandsAnswer(TypedDict):
    data: list[Island]
    meta: ListIslandsAnswerMeta


class ListIslandsAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class GetIslandAnswer(TypedDict):
    data: IslandDetail


class RenameIslandAnswer(TypedDict):
    data: IslandDetail


class RemoveIslandAnswer(TypedDict):
    data: RemoveIslandAnswerData


class RemoveIslandAnswerData(TypedDict):
    id: str
    removed: Literal[True]


class GetIslandEarningsAnswer(TypedDict):
    data: GetIslandEarningsAnswerData


class GetIslandEarningsAnswerData(TypedDict):
    name: str
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    earned: IslandEarnings
    recent: list[GetIslandEarningsAnswerDataRecentItem]
    """The latest jobs with earnings, newest first; at most 100"""
    standings: list[Standing]
    """Standings of the owner, which are those of all its Islands: at most 100 Cargos with audits or held earnings, sorted by slug"""


class GetIslandEarningsAnswerDataRecentItem(TypedDict):
    job_id: str
    credits: float
    """Credits, with up to 6 decimals"""
    earned_at: str
    """Time in UTC, as ISO 8601"""


class LeaveIslandAnswer(TypedDict):
    data: LeaveIslandAnswerData


class LeaveIslandAnswerData(TypedDict):
    id: str
    removed: bool


class RecommendCargosAnswer(TypedDict):
    host_id: str
    recommendations: list[Recommendation]


class GetNetworkOverviewAnswer(TypedDict):
    data: NetworkOverview


class GetNetworkQueueAnswer(TypedDict):
    data: list[QueueLine]
    is_complete: bool
    """False if a coordinator did not reply, so that its jobs are missing"""


class ListNetworkJobsAnswer(TypedDict):
    data: list[KnownJob]
    meta: ListNetworkJobsAnswerMeta


class ListNetworkJobsAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class ListAuditLogAnswer(TypedDict):
    data: list[AuditLine]
    meta: ListAuditLogAnswerMeta


class ListAuditLogAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class ListSettingsAnswer(TypedDict):
    data: list[SettingInForce]


class ListAccountsAnswer(TypedDict):
    data: list[KnownAccount]
    meta: ListAccountsAnswerMeta


class ListAccountsAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class GetKnownAccountAnswer(TypedDict):
    data: KnownAccountDetail


class SetAccountLimitsAnswer(TypedDict):
    data: AccountLimits


class GrantCreditsAnswer(TypedDict):
    data: GrantCreditsAnswerData


class GrantCreditsAnswerData(TypedDict):
    id: str
    credits: float
    """Credits, with up to 6 decimals"""


class SuspendAccountAnswer(TypedDict):
    data: KnownAccountDetail


class ReinstateAccountAnswer(TypedDict):
    data: KnownAccountDetail


class ListNetworkIslandsAnswer(TypedDict):
    data: list[KnownIsland]
    meta: ListNetworkIslandsAnswerMeta


class ListNetworkIslandsAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class GetNetworkIslandAnswer(TypedDict):
    data: KnownIslandDetail


class SuspendIslandAnswer(TypedDict):
    data: SuspendIslandAnswerData


class SuspendIslandAnswerData(TypedDict):
    id: str
    suspended: bool


class ReinstateIslandAnswer(TypedDict):
    data: ReinstateIslandAnswerData


class ReinstateIslandAnswerData(TypedDict):
    id: str
    suspended: bool


class ListStandingsAnswer(TypedDict):
    data: list[KnownStanding]
    meta: ListStandingsAnswerMeta


class ListStandingsAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class SetStandingAnswer(TypedDict):
    data: KnownStanding


class AuditJobAnswer(TypedDict):
    data: AuditJobAnswerData


class AuditJobAnswerData(TypedDict):
    id: str


class AuditIslandAnswer(TypedDict):
    data: AuditIslandAnswerData


class AuditIslandAnswerData(TypedDict):
    id: str
    jobs: list[str]
    """Ids of the jobs"""


class ListNetworkCargosAnswer(TypedDict):
    data: list[KnownCargo]
    meta: ListNetworkCargosAnswerMeta


class ListNetworkCargosAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


class AddModelAnswer(TypedDict):
    data: AddedModel


class GetCargoReviewAnswer(TypedDict):
    data: CargoReview


class SetCargoPriceAnswer(TypedDict):
    data: CargoReview


class ReviewCargoAnswer(TypedDict):
    data: CargoReview


class ApproveCargoAnswer(TypedDict):
    data: ApproveCargoAnswerData


class ApproveCargoAnswerData(TypedDict):
    slug: str
    revision: str
    approved: Literal[True]


class DisableCargoAnswer(TypedDict):
    data: DisableCargoAnswerData


class DisableCargoAnswerData(TypedDict):
    slug: str
    disabled: bool


class EnableCargoAnswer(TypedDict):
    data: EnableCargoAnswerData


class EnableCargoAnswerData(TypedDict):
    slug: str
    disabled: bool


class ListAnnouncementsAnswer(TypedDict):
    data: list[Announcement]


class AddAnnouncementAnswer(TypedDict):
    data: Announcement


class RemoveAnnouncementAnswer(TypedDict):
    data: RemoveAnnouncementAnswerData


class RemoveAnnouncementAnswerData(TypedDict):
    id: str
    removed: Literal[True]


class GetNetworkAnswer(TypedDict):
    data: Network


class ListDownloadsAnswer(TypedDict):
    data: Downloads


GetOpenApiAnswer: TypeAlias = "dict[str, Any]"

# Generated from the coordinator's OpenAPI document by `npm run generate`. Not for editing.
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class JobWebhook(TypedDict):
    type: Literal["job.completed", "job.failed", "job.cancelled", "job.timeout"]
    timestamp: str
    """ISO 8601, UTC"""
    data: JobWebhookData


class JobWebhookData(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    priority: int
    input_removed_at: str | None
    """When the input was removed, by its owner or at the end of the retention period"""
    output_removed_at: str | None
    """When the output, the stream and the error message were removed"""
    output: NotRequired[Any]
    """Text, or the JSON value that the Cargo produced; null until completed"""
    usage: Usage | None
    created_at: str
    """ISO 8601, UTC"""
    started_at: str | None
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    duration_ms: int | None
    finish_reason: Literal["stop", "length", "tool_calls", None]
    error: JobWebhookDataError | None
    attempts: int
    """Attempts begun so far; a refused assignment does not count"""
    island_id: str | None
    timings: JobWebhookDataTimings | None
    batch_id: str | None
    ignored: list[str]
    """Ignored parameters of the request, as in the header `Atoll-Ignored`"""
    output_omitted: bool
    """The output is too large for a webhook; read it from GET /jobs/{id}"""


class JobWebhookDataError(TypedDict):
    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]
    message: str
    retryable: bool


class JobWebhookDataTimings(TypedDict):
    load_ms: float
    first_output_ms: float | None
    run_ms: float


class Usage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    credits_used: float
    """Credits, with up to 6 decimals"""


class BatchWebhook(TypedDict):
    type: Literal["batch.finished"]
    timestamp: str
    """ISO 8601, UTC"""
    data: BatchWebhookData


class BatchWebhookData(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    """pending: no job has started. failed: all jobs have ended, and at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """Jobs, in the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """Only with `include=output`: `output_offset` of the next request; null: no further outputs"""
    created_at: str
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""


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
    """Only with `include=output`, from job `output_offset` on. Null if the job is not completed, or its output was removed or omitted"""
    error: NotRequired[BatchJobError | None]
    """Only with `include=output`: why the job failed or timed out"""
    output_omitted: NotRequired[Literal[True]]
    """The output has more than 65536 characters as JSON: read it from GET /jobs/{id}"""


class BatchJobError(TypedDict):
    """Only with `include=output`: why the job failed or timed out"""

    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]
    message: str
    retryable: bool


class Health(TypedDict):
    status: Literal["ok", "degraded"]
    version: str
    checks: HealthChecks


class HealthChecks(TypedDict):
    store: Literal["ok", "read_only", "failing"]
    """read_only: writes are refused, because the disk is full, another process writes, or the database is unreachable"""
    bus: NotRequired[Literal["ok", "down"]]
    """Only with several coordinators. down: the others are unreachable; this coordinator's own jobs and Islands continue"""


class SubmittedJob(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["submitted"]
    input: dict[str, Any]
    created_at: str
    """ISO 8601, UTC"""
    webhook_secret: NotRequired[str]
    """The generated webhook secret; shown only here and in repeats with the same Idempotency-Key"""


class SubmitJob(TypedDict):
    workload: str
    """Cargo slug"""
    input: dict[str, Any]
    """Parameters of the Cargo; see its input_schema"""
    priority: NotRequired[int]
    webhook_url: NotRequired[str]
    """URL that receives a signed POST (Standard Webhooks) when the job or batch ends; https, and not a private address"""
    webhook_secret: NotRequired[str]
    """Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a generated secret, shown only in this response"""


class ListedJob(TypedDict):
    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    created_at: str
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    batch_id: str | None
    workload_id: int
    input: dict[str, Any] | None
    """Null if longer than 4 KB; empty after removal"""


class JobSummary(TypedDict):
    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    created_at: str
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    batch_id: str | None


class Job(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    priority: int
    input: dict[str, Any]
    """Empty after removal"""
    input_removed_at: str | None
    """When the input was removed, by its owner or at the end of the retention period"""
    output_removed_at: str | None
    """When the output, the stream and the error message were removed"""
    output: NotRequired[Any]
    """Text, or the JSON value that the Cargo produced; null until completed"""
    usage: Usage | None
    created_at: str
    """ISO 8601, UTC"""
    started_at: str | None
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    duration_ms: int | None
    finish_reason: Literal["stop", "length", "tool_calls", None]
    error: JobError | None
    attempts: int
    """Attempts begun so far; a refused assignment does not count"""
    island_id: str | None
    waiting: Waiting | None
    timings: JobTimings | None
    batch_id: str | None
    ignored: list[str]
    """Ignored parameters of the request, as in the header `Atoll-Ignored`"""
    webhook: WebhookLog | None


class JobError(TypedDict):
    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]
    message: str
    retryable: bool


class JobTimings(TypedDict):
    load_ms: float
    first_output_ms: float | None
    run_ms: float


class Waiting(TypedDict):
    """Why the job has not started, or runs without output; otherwise null"""

    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    position: int
    """Position in the queue of the job's Cargo; 1 is next"""
    message: str
    """The reason as a sentence"""
    percent: int | None
    """Progress of the model's download in percent, if known"""
    phase: Literal["accept", "start", "first_output", "silence", None]
    """What the assigned Island must do before the job runs; null while the job is unassigned"""


class WebhookLog(TypedDict):
    url: str
    state: Literal["waiting", "pending", "delivered", "failed"]
    """waiting: the job or batch has not ended. pending: to be delivered. failed: abandoned after a day or after a 410"""
    attempts: list[WebhookLogAttemptsItem]
    """The last ten delivery attempts, oldest first"""


class WebhookLogAttemptsItem(TypedDict):
    at: str
    """ISO 8601, UTC"""
    status: int | None
    error: str | None


class SubmittedBatch(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    """pending: no job has started. failed: all jobs have ended, and at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """Jobs, in the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """Only with `include=output`: `output_offset` of the next request; null: no further outputs"""
    created_at: str
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    webhook: WebhookLog | None
    webhook_secret: NotRequired[str]
    """The generated webhook secret; shown only here and in repeats with the same Idempotency-Key"""


class Batch(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    """pending: no job has started. failed: all jobs have ended, and at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """Jobs, in the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """Only with `include=output`: `output_offset` of the next request; null: no further outputs"""
    created_at: str
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    webhook: WebhookLog | None


class SubmitBatch(TypedDict):
    workload: str
    """Cargo slug"""
    inputs: list[dict[str, Any]]
    """One job for each input"""
    priority: NotRequired[int]
    fail_mode: NotRequired[Literal["best_effort", "fail_fast"]]
    """fail_fast: the first job that fails or times out cancels the others. best_effort: all run"""
    webhook_url: NotRequired[str]
    """URL that receives a signed POST (Standard Webhooks) when the job or batch ends; https, and not a private address"""
    webhook_secret: NotRequired[str]
    """Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a generated secret, shown only in this response"""


class JobOutput(TypedDict):
    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    output: NotRequired[Any]
    """Text so far, the last image as {format, data}, or the output once completed; null before any output"""
    is_complete: bool
    """The job is completed and `output` is all of it"""
    tokens: int
    """Number of model tokens delivered"""
    progress: JobOutputProgress | None
    """The last progress that the Cargo reported"""
    usage: Usage | None
    """Null until the job has ended"""


class JobOutputProgress(TypedDict):
    """The last progress that the Cargo reported"""

    step: int
    total: int


JobEvent: TypeAlias = "StatusEvent | TokenEvent | ReasoningEvent | ToolCallEvent | ProgressEvent | ImageEvent | DoneEvent | ErrorEvent"


class StatusEvent(TypedDict):
    """A change of state. Until there is output, the current state is sent immediately and then every 5 s, with a `message` that says why the job waits. These repeats reuse the previous event's id"""

    type: Literal["status"]
    state: Literal["pending", "queued", "running", "streaming"]
    """streaming: output follows"""
    message: NotRequired[str]
    """Why there is no output yet"""
    percent: NotRequired[int]
    """Progress of the model's download in percent, if known"""


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
    """Index of the tool call in the completion, from 0"""
    id: NotRequired[str]
    """Only in the first part of a tool call"""
    name: NotRequired[str]
    """Only in the first part of a tool call"""
    arguments: str
    """JSON text to append"""


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
    """The output, unless it is text that was already streamed"""


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
    """Null if the completion has only tool calls"""
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
    """Empty in the chunk that carries `usage`"""
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
    """The job failed after output began; no [DONE] follows"""

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
    """Newer name of `max_tokens`; takes precedence over it"""
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
    """Only for Cargos with reasoning; ignored for others, and named in `Atoll-Ignored`"""
    n: NotRequired[int | None]
    """Number of choices. Each is a separate job; they run one after the other, even in a stream. If one fails, the earlier ones are still charged"""
    stream_options: NotRequired[ChatCompletionRequestStreamOptions | None]
    usage: NotRequired[ChatCompletionRequestUsage | None]
    """An OpenRouter parameter; has the effect of `stream_options.include_usage`"""


class ChatCompletionRequestMessagesItem(TypedDict):
    role: Literal["system", "user", "assistant", "tool", "developer"]
    content: NotRequired[str | list[ChatCompletionRequestMessagesItemContentItem] | None]
    """Text, or a list of text parts, which are joined"""
    tool_calls: NotRequired[list[ChatCompletionRequestMessagesItemToolCallsItem] | None]
    """Tool calls of the assistant"""
    tool_call_id: NotRequired[str | None]
    """Id of the tool call that this `tool` message answers"""


class ChatCompletionRequestMessagesItemContentItem(TypedDict):
    type: Literal["text"]
    """Other types are refused"""
    text: str


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
    """Not in OpenAI's API; with `json_object`, has the effect of `json_schema`"""


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
    """An OpenRouter parameter; has the effect of `stream_options.include_usage`"""

    include: NotRequired[bool | None]


class TextCompletion(TypedDict):
    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextCompletionChoicesItem]
    usage: NotRequired[TextCompletionUsage]
    """On a stream: only in the last chunk, if requested"""


class TextCompletionChoicesItem(TypedDict):
    index: int
    text: str
    logprobs: None
    finish_reason: Literal["stop", "length", "tool_calls", None]


class TextCompletionUsage(TypedDict):
    """On a stream: only in the last chunk, if requested"""

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
    """Continued without the model's chat template. A list of texts runs one job for each, four at once. Lists of token ids are refused"""
    max_tokens: NotRequired[int | None]
    """Default 16; lowered as in a chat"""
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
    """Only with one prompt"""
    stream_options: NotRequired[TextCompletionRequestStreamOptions | None]


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
    """Credits charged; absent in `message_start`"""


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
    """Credits charged; absent in `message_start`"""


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
    """Only for Cargos with reasoning; by default they do not reason. For other Cargos, `enabled` is ignored"""
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
    content: str | list[MessageRequestMessagesItemContentItem1 | MessageRequestMessagesItemContentItem2 | MessageRequestMessagesItemContentItem3 | MessageRequestMessagesItemContentItem4 | MessageRequestMessagesItemContentItem5]
    """Text, or a list of blocks; text blocks are joined"""


class MessageRequestMessagesItemContentItem1(TypedDict):
    type: Literal["text"]
    text: str


class MessageRequestMessagesItemContentItem2(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class MessageRequestMessagesItemContentItem3(TypedDict):
    type: Literal["tool_result"]
    tool_use_id: str
    content: NotRequired[str | list[MessageRequestMessagesItemContentItem3ContentItem] | None]
    """Text, or text blocks"""


class MessageRequestMessagesItemContentItem3ContentItem(TypedDict):
    type: Literal["text"]
    text: str


class MessageRequestMessagesItemContentItem4(TypedDict):
    type: Literal["thinking"]


class MessageRequestMessagesItemContentItem5(TypedDict):
    type: Literal["redacted_thinking"]


class MessageRequestSystemItem(TypedDict):
    type: Literal["text"]
    text: str


class MessageRequestToolsItem1(TypedDict):
    type: NotRequired[Literal["custom"]]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Part of the prompt"""
    input_schema: dict[str, Any]
    """JSON Schema of the input, an object"""
    strict: NotRequired[bool | None]
    """The input must match `input_schema`; otherwise the job fails with `schema_unmet`"""


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
    """Reasoning tokens: 512 below 2048, otherwise 2048"""


class MessageRequestOutputConfig(TypedDict):
    format: NotRequired[MessageRequestOutputConfigFormat | None]


class MessageRequestOutputConfigFormat(TypedDict):
    type: Literal["json_schema"]
    schema: dict[str, Any]
    """As the schema of a chat's `response_format`, with `strict: true`"""


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
    """Only for Cargos with reasoning; by default they do not reason. For other Cargos, `enabled` is ignored"""


class CountTokensRequestMessagesItem(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str | list[CountTokensRequestMessagesItemContentItem1 | CountTokensRequestMessagesItemContentItem2 | CountTokensRequestMessagesItemContentItem3 | CountTokensRequestMessagesItemContentItem4 | CountTokensRequestMessagesItemContentItem5]
    """Text, or a list of blocks; text blocks are joined"""


class CountTokensRequestMessagesItemContentItem1(TypedDict):
    type: Literal["text"]
    text: str


class CountTokensRequestMessagesItemContentItem2(TypedDict):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class CountTokensRequestMessagesItemContentItem3(TypedDict):
    type: Literal["tool_result"]
    tool_use_id: str
    content: NotRequired[str | list[CountTokensRequestMessagesItemContentItem3ContentItem] | None]
    """Text, or text blocks"""


class CountTokensRequestMessagesItemContentItem3ContentItem(TypedDict):
    type: Literal["text"]
    text: str


class CountTokensRequestMessagesItemContentItem4(TypedDict):
    type: Literal["thinking"]


class CountTokensRequestMessagesItemContentItem5(TypedDict):
    type: Literal["redacted_thinking"]


class CountTokensRequestSystemItem(TypedDict):
    type: Literal["text"]
    text: str


class CountTokensRequestToolsItem1(TypedDict):
    type: NotRequired[Literal["custom"]]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Part of the prompt"""
    input_schema: dict[str, Any]
    """JSON Schema of the input, an object"""
    strict: NotRequired[bool | None]
    """The input must match `input_schema`; otherwise the job fails with `schema_unmet`"""


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
    """Reasoning tokens: 512 below 2048, otherwise 2048"""


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
    """Opaque and not used; `content` has the whole reasoning"""


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
    """Empty unless requested"""


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
    """As in a chat's `response_format`"""
    strict: NotRequired[bool | None]
    """As in a chat's `response_format`"""


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
    """Opaque and not used; `content` has the whole reasoning"""


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
    """Empty unless requested"""


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
    """Opaque and not used; `content` has the whole reasoning"""


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
    """Empty unless requested"""


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
    """Empty unless requested"""


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
    """Empty unless requested"""


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
    """Id of a completed or incomplete stored response, whose conversation is put before `input`, without its instructions"""
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
    """Default true. False: input and output are removed when the response ends"""
    background: NotRequired[bool | None]
    """Return at once and run without the client; poll `GET /responses/{id}`. Not with `stream`, and not with `store: false`"""
    metadata: NotRequired[dict[str, str] | None]
    """At most 16 entries"""


class ResponseRequestInputItem1(TypedDict):
    type: NotRequired[Literal["message"]]
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[ResponseRequestInputItem1ContentItem]
    """Text, or a list of text parts, which are joined"""


class ResponseRequestInputItem1ContentItem(TypedDict):
    type: Literal["input_text", "output_text", "text"]
    text: str


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
    """As in a chat's `response_format`"""
    strict: NotRequired[bool | None]
    """As in a chat's `response_format`"""


class ResponseRequestToolsItem1(TypedDict):
    type: Literal["function"]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """Part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """JSON Schema of the arguments, an object"""
    strict: NotRequired[bool | None]
    """Arguments must match `parameters`; otherwise the job fails with `schema_unmet`"""


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
    """Part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """JSON Schema of the arguments, an object"""
    strict: NotRequired[bool | None]
    """Arguments must match `parameters`; otherwise the job fails with `schema_unmet`"""


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
    """Only for Cargos with reasoning; ignored for others, and named in `Atoll-Ignored`"""


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
    """Must be the model's number of dimensions. Another number is refused after the job has run, which is charged"""


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
    """Score of the reranking Cargo, or (1 + cosine of the two vectors) / 2. Compare scores only within one response"""
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


class RerankRequestDocumentsItem(TypedDict):
    text: str


class Moderation(TypedDict):
    id: str
    """Id of the first text's job"""
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
    """When the file is removed; null: only on request"""
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
    """The file in base64"""


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
    """Default 1. Each image is a separate job; they run one after the other"""
    size: NotRequired[str | None]
    """`auto` (default; the Cargo's size) or width and height, such as `512x512`. A size that the Cargo does not support is 422"""
    response_format: NotRequired[Literal["b64_json"]]
    output_format: NotRequired[Literal["png"]]
    negative_prompt: NotRequired[str | None]
    """Not in OpenAI's API; what the image should not show"""
    steps: NotRequired[int | None]
    """Not in OpenAI's API; sampler steps. Default: the Cargo's"""
    guidance_scale: NotRequired[float | None]
    """Not in OpenAI's API; how closely to follow the prompt"""
    seed: NotRequired[int | None]
    """Not in OpenAI's API; the same seed gives the same image. Image i of n (from 0) uses the seed plus i"""


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
    """A long text is split between sentences into several jobs"""
    model: NotRequired[str | None]
    """Slug or alias of a speech Cargo. Default: the setting `default_speech_cargo`"""
    voice: NotRequired[str | None]
    """A voice of the Cargo; others are 422, OpenAI's voices included. Default: `default`, the Cargo's first voice"""
    speed: NotRequired[float | None]
    """Default 1. Another value is 422 if the Cargo has only one speed"""
    response_format: NotRequired[Literal["mp3", "wav", "pcm", None]]
    """Default `mp3`. pcm: 24 kHz, 16 bit, mono, little-endian"""


class Transcription(TypedDict):
    text: str
    task: NotRequired[Literal["transcribe", "translate"]]
    """Only with verbose_json, as the following members"""
    language: NotRequired[str]
    """The requested language"""
    duration: NotRequired[float]
    """Duration in seconds"""
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
    "language": "NotRequired[str]",
    "timestamp_granularities[]": "NotRequired[list[Literal[\"segment\", \"word\"]]]",
})


class TranslationForm(TypedDict):
    file: str
    """A WAV file of at most 25 MB, about 13 minutes at 16 kHz and 16 bit"""
    model: NotRequired[str]
    """Slug or alias of a transcription Cargo. Default: the setting `default_transcription_cargo`"""
    response_format: NotRequired[Literal["json", "text", "srt", "vtt", "verbose_json"]]


class Model(TypedDict):
    id: str
    """Slug or alias of the Cargo"""
    object: Literal["model"]
    created: int
    """When the Cargo was added to the network's catalog: Unix time in seconds"""
    owned_by: str
    type: Literal["chat", "embedding", "rerank", "classification", "image", "transcription", "speech"]
    capabilities: list[str]
    """Paths of the endpoints that accept the model"""
    alias_of: str | None
    """If the id is an alias: slug of its Cargo"""
    is_default: bool
    """Whether requests without `model` to an endpoint in `capabilities` use this Cargo"""
    available: bool
    """Whether a connected Island can run it now; otherwise requests wait"""
    ready: bool
    """Whether such an Island needs no download first"""
    free: int
    """Number of Islands that can run it now and have a free slot"""
    pricing: ModelPricing
    """Each job of a request costs `per_job`, regardless of its tokens"""
    context_length: int | None
    """Maximum tokens of prompt and completion together; null: unknown"""
    max_output_tokens: int | None
    """Maximum of `max_tokens`; null: not a chat Cargo"""
    tokens_per_second: float | None
    """Median of the last 100 jobs in 24 h, measured by this coordinator since its start; null: none measured"""
    first_token_ms: int | None
    """Median time from a chat's submission to its first token, measured as `tokens_per_second`"""
    tool_calls: Literal["template", "grammar", None]
    """How the model learns of its tools. template: by its own chat template. grammar: by a text that Atoll adds to the prompt. null: it has no tool calls. A grammar enforces the calls in both cases"""
    reasoning: bool
    """Whether it reasons before its completion (`reasoning_content`, `reasoning_effort`)"""


class ModelPricing(TypedDict):
    """Each job of a request costs `per_job`, regardless of its tokens"""

    per_job: float
    """Credits, with up to 6 decimals"""
    unit: Literal["credits"]


class Conversation(TypedDict):
    id: str
    title: str | None
    model: str
    system_prompt: str | None
    metadata: dict[str, str]
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""


class CreateConversation(TypedDict):
    title: NotRequired[str | None]
    model: NotRequired[str | None]
    """Slug or alias of a chat Cargo. Default: the operator's default chat Cargo"""
    system_prompt: NotRequired[str | None]
    metadata: NotRequired[dict[str, str] | None]
    """Free for the client's use, at most 16 entries"""


class ConversationWithMessages(TypedDict):
    id: str
    title: str | None
    model: str
    system_prompt: str | None
    metadata: dict[str, str]
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
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
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""


class MessageError(TypedDict):
    code: str
    message: str


class UpdateConversation(TypedDict):
    """Omitted fields do not change; a null `title` removes the title"""

    title: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    """Free for the client's use, at most 16 entries"""


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
    """Not supported; only null"""


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
    """Connected Islands that can run it"""
    ready: int
    """Islands that need no download first"""
    free: int
    """Islands with a free slot"""


class Cargo(TypedDict):
    slug: str
    name: str
    description: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    onnx_task_type: str | None
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    price_per_job: float
    """Credits, with up to 6 decimals"""
    required_vram_mb: int
    required_ram_mb: int
    context_tokens: int | None
    licence: str
    model_sha256: str | None
    """SHA-256 of the model's file, in hexadecimal; null: the Cargo has no model, has a folder of files, or names no hash"""
    chat: bool
    """Whether it can be the `model` of a chat completion"""


class CargoDetail(TypedDict):
    slug: str
    name: str
    description: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    onnx_task_type: str | None
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    price_per_job: float
    """Credits, with up to 6 decimals"""
    required_vram_mb: int
    required_ram_mb: int
    context_tokens: int | None
    licence: str
    model_sha256: str | None
    """SHA-256 of the model's file, in hexadecimal; null: the Cargo has no model, has a folder of files, or names no hash"""
    chat: bool
    """Whether it can be the `model` of a chat completion"""
    workload_id: int
    task: str | None
    """Task by the model hub's names, such as feature-extraction or text-ranking; null: chat, or defined by the schemas"""
    input_schema: dict[str, Any]
    """JSON Schema of a job's input"""
    example_input: dict[str, Any]
    output_schema: dict[str, Any]
    """JSON Schema of a job's output; {} allows any JSON value"""
    run_limit_s: float
    wait_limit_s: float
    accept_limit_s: float | None
    """Time limit of this phase of an attempt; null: the coordinator's setting"""
    start_limit_s: float | None
    """Time limit of this phase of an attempt; null: the coordinator's setting"""
    first_output_limit_s: float | None
    """Time limit of this phase of an attempt; null: the coordinator's setting"""
    silence_limit_s: float | None
    """Time limit of this phase of an attempt; null: the coordinator's setting"""
    approved: bool
    """Whether the operator approved it. Before that, only its owner can see and run it"""


class OwnedCargo(TypedDict):
    slug: str
    name: str
    description: str
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    licence: str
    price_per_job: float
    required_ram_mb: int
    required_vram_mb: int
    example_input: dict[str, Any]
    """At most 16384 bytes as JSON"""
    onnx_task_type: str | None
    model: OwnedCargoModel | None
    context_tokens: int | None
    run_limit_s: float
    wait_limit_s: float
    accept_limit_s: NotRequired[float]
    start_limit_s: NotRequired[float]
    first_output_limit_s: NotRequired[float]
    silence_limit_s: NotRequired[float]
    weights: NotRequired[Literal["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4"]]
    container: NotRequired[OwnedCargoContainer]
    args: NotRequired[list[str]]
    task: NotRequired[Literal["feature-extraction", "text-ranking"]]
    parts: NotRequired[list[OwnedCargoPartsItem]]
    projector: NotRequired[OwnedCargoProjector]
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
    """Whether the operator approved it. Before that, only you can see and run it"""
    revision: int
    """Version number; 1 for the first version"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""


class OwnedCargoModel(TypedDict):
    url: str
    sha256: str | None
    size_bytes: int | None


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
    price_per_job: float
    required_ram_mb: int
    required_vram_mb: int
    example_input: dict[str, Any]
    """At most 16384 bytes as JSON"""
    onnx_task_type: NotRequired[str | None]
    model: NotRequired[CreateCargoModel | None]
    context_tokens: NotRequired[int | None]
    run_limit_s: NotRequired[float | None]
    wait_limit_s: NotRequired[float | None]
    accept_limit_s: NotRequired[float | None]
    start_limit_s: NotRequired[float | None]
    first_output_limit_s: NotRequired[float | None]
    silence_limit_s: NotRequired[float | None]
    weights: NotRequired[Literal["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4", None]]
    container: NotRequired[CreateCargoContainer | None]
    args: NotRequired[list[str] | None]
    task: NotRequired[Literal["feature-extraction", "text-ranking", None]]
    parts: NotRequired[list[CreateCargoPartsItem] | None]
    projector: NotRequired[CreateCargoProjector | None]
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
    price_per_job: NotRequired[float]
    required_ram_mb: NotRequired[int]
    required_vram_mb: NotRequired[int]
    example_input: NotRequired[dict[str, Any]]
    """At most 16384 bytes as JSON"""
    onnx_task_type: NotRequired[str | None]
    model: NotRequired[ChangeCargoModel | None]
    context_tokens: NotRequired[int | None]
    run_limit_s: NotRequired[float | None]
    wait_limit_s: NotRequired[float | None]
    accept_limit_s: NotRequired[float | None]
    start_limit_s: NotRequired[float | None]
    first_output_limit_s: NotRequired[float | None]
    silence_limit_s: NotRequired[float | None]
    weights: NotRequired[Literal["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4", None]]
    container: NotRequired[ChangeCargoContainer | None]
    args: NotRequired[list[str] | None]
    task: NotRequired[Literal["feature-extraction", "text-ranking", None]]
    parts: NotRequired[list[ChangeCargoPartsItem] | None]
    projector: NotRequired[ChangeCargoProjector | None]
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
    """Sent first, and after events may have been missed: read your lists again. Later changes follow as events"""

    type: Literal["reset"]


class JobChangedEvent(TypedDict):
    """Sent when a job is new or its state changed. Contains the job's entry in GET /jobs, without workload_id and input"""

    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    created_at: str
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    batch_id: str | None
    type: Literal["job"]
    cargo: str
    """Same as `workload_slug`"""
    code: NotRequired[Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]]
    """Error code of a job that failed or timed out"""
    updated_at: str
    """ISO 8601, UTC"""


class IslandChangedEvent(TypedDict):
    """Sent when an Island connected, disconnected, was renamed or reported a change. Contains the Island's entry in GET /islands"""

    id: str
    """Host id, a UUID"""
    name: str
    """Name given by its owner; otherwise the machine's name, or one derived from its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, but takes no new jobs (paused by its owner, outside its hours, or shutting down). quarantined: several jobs in a row failed, and it gets few jobs or none. suspended: by the operator; its agent retries once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not reply, and the status is derived from last_seen_at"""
    suspended_because: str | None
    """Reason given by the operator; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandChangedEventRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is loading from disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Downloads of models and images in progress, at most 10"""
    running: list[IslandChangedEventRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of these jobs"""
    earned: IslandEarnings
    type: Literal["island"]
    online: bool
    """Whether its status is not offline"""


class IslandChangedEventRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class IslandChangedEventRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


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
    """Last report of the Island, sent every 10 s. Unknown values are null"""

    slots: int
    """Number of jobs that it runs at the same time"""
    slots_busy: int
    cpu: float | None
    """CPU load over all cores, 0 to 1"""
    gpu: float | None
    """Load of the busiest graphics card, 0 to 1"""
    free_ram_mb: int | None
    """Memory in MB of 2^20 bytes"""
    free_vram_mb: int | None
    """Memory in MB of 2^20 bytes"""
    temperature_c: float | None
    """Temperature of the hottest processor or graphics card, in degrees Celsius"""


class IslandDownload(TypedDict):
    """Last report of the Island. Unknown values are null"""

    cargo: str
    """Slug of the Cargo"""
    fraction: float | None
    """Progress, 0 to 1; null while the size is unknown"""
    received_bytes: int | None
    total_bytes: int | None
    bytes_per_second: int | None
    """Speed over the last 10 s"""


class IslandUptime(TypedDict):
    """Share of the time connected, 0 to 1, in the current UTC day and the last 7 and 30 UTC days, counted from when it was first seen. Stored once a minute; a crash of a coordinator loses up to a minute"""

    today: float | None
    days_7: float | None
    days_30: float | None


class IslandJobs(TypedDict):
    """Jobs that ended here in the last 30 UTC days; stored once a minute"""

    completed: int
    failed: int
    cancelled: int
    timeout: int
    retried: int
    """Attempts that failed or were lost here and were retried"""


class IslandEarnings(TypedDict):
    """Earnings in the ledger, by UTC day of the entry"""

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
    """Name given by its owner; otherwise the machine's name, or one derived from its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, but takes no new jobs (paused by its owner, outside its hours, or shutting down). quarantined: several jobs in a row failed, and it gets few jobs or none. suspended: by the operator; its agent retries once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not reply, and the status is derived from last_seen_at"""
    suspended_because: str | None
    """Reason given by the operator; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is loading from disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Downloads of models and images in progress, at most 10"""
    running: list[IslandRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of these jobs"""
    earned: IslandEarnings


class IslandRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class IslandRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class IslandRemovedEvent(TypedDict):
    """The Island was removed from GET /islands"""

    type: Literal["island_removed"]
    id: str


class BalanceEvent(TypedDict):
    """`credits` of GET /account"""

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
    """ISO 8601, UTC"""
    type: Literal["account"]


class Account(TypedDict):
    id: str
    email: str
    credits: float
    """Credits, with up to 6 decimals"""
    role: Literal["user", "operator"]
    created_at: str
    """ISO 8601, UTC"""


class OverviewEvent(TypedDict):
    """Totals over all coordinators, at most 1.5 s old. The count of known Islands is cached for 1 ms per Island: with 5,000 Islands it is at most 5 s old"""

    islands: OverviewEventIslands
    slots: OverviewEventSlots
    """Slots of Islands that take new jobs"""
    jobs: OverviewEventJobs
    waiting_by_reason: list[OverviewEventWaitingByReasonItem]
    tokens_per_second: float
    first_token_ms: OverviewEventFirstTokenMs
    """Time from a job's submission (in a batch: its admission) to its first token, for jobs that ended in the last minute; accurate to 5 %"""
    errors_last_minute: int
    """Number of jobs that failed or timed out"""
    coordinators: list[CoordinatorOverview]
    is_complete: bool
    """False: a coordinator did not reply, and the sums lack its part"""
    type: Literal["overview"]


class OverviewEventIslands(TypedDict):
    online: int
    known: int


class OverviewEventSlots(TypedDict):
    """Slots of Islands that take new jobs"""

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
    """Time from a job's submission (in a batch: its admission) to its first token, for jobs that ended in the last minute; accurate to 5 %"""

    p50: float | None
    p99: float | None


class CoordinatorOverview(TypedDict):
    id: str | None
    """Null if there is only one coordinator"""
    address: str
    version: str
    answers: bool
    """False: it did not reply in time, and the sums lack its part"""
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
    """Slots of Islands that take new jobs"""
    jobs: NetworkOverviewJobs
    waiting_by_reason: list[NetworkOverviewWaitingByReasonItem]
    tokens_per_second: float
    first_token_ms: NetworkOverviewFirstTokenMs
    """Time from a job's submission (in a batch: its admission) to its first token, for jobs that ended in the last minute; accurate to 5 %"""
    errors_last_minute: int
    """Number of jobs that failed or timed out"""
    coordinators: list[CoordinatorOverview]
    is_complete: bool
    """False: a coordinator did not reply, and the sums lack its part"""


class NetworkOverviewIslands(TypedDict):
    online: int
    known: int


class NetworkOverviewSlots(TypedDict):
    """Slots of Islands that take new jobs"""

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
    """Time from a job's submission (in a batch: its admission) to its first token, for jobs that ended in the last minute; accurate to 5 %"""

    p50: float | None
    p99: float | None


class ChangeAccount(TypedDict):
    current_password: str
    password: NotRequired[str]
    email: NotRequired[str]


class LedgerLine(TypedDict):
    id: int
    """Id of the entry; increases with time"""
    kind: Literal["grant", "correction", "hold", "charge", "release", "earning"]
    """grant: credits given. correction: credits an operator took back. hold: reserved when a job is submitted. charge: taken from the hold. release: returned from the hold. earning: an Island of the account ran a job"""
    amount: float
    """Change of `credits`; negative for a decrease"""
    held: float
    """Change of the credits held for unfinished jobs"""
    balance: float
    """`credits` after this entry"""
    job_id: str | None
    """Id of the job; for an earning, a job of any account"""
    batch_id: str | None
    """Only for the hold of a whole batch; its jobs are charged and released separately"""
    workload_slug: str | None
    """Cargo of the job or batch"""
    note: str | None
    """The operator's note on a grant or correction"""
    created_at: str
    """ISO 8601, UTC"""


class UsageLine(TypedDict):
    day: str | None
    """UTC day on which the jobs ended"""
    kind: Literal["spent", "earned"]
    """spent: charged for jobs. earned: by Islands of the account"""
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
    """Session token (st_…) with every scope; can manage keys"""
    expires_at: str
    """ISO 8601, UTC"""
    account: Account


class CookieSession(TypedDict):
    """A session whose token is only in the cookie `atoll_session`"""

    expires_at: str
    """ISO 8601, UTC"""
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
    """ISO 8601, UTC"""
    last_used_at: str | None
    """ISO 8601, UTC, accurate to a minute; null: never used"""
    expires_at: str
    """ISO 8601, UTC"""
    current: bool
    """Whether this is the session of the request"""


class ApiKey(TypedDict):
    id: str
    name: str
    scopes: list[Literal["read", "write"]]
    created_at: str
    """ISO 8601, UTC"""
    prefix: str
    expires_at: str | None
    """ISO 8601, UTC"""
    cargos: list[str] | None
    credits_per_month: float | None
    """Credits, with up to 6 decimals"""
    last_used_at: str | None
    """ISO 8601, UTC"""
    credits_this_month: float | None
    """Spent this month by a key with credits_per_month; null for other keys"""


class CreatedApiKey(TypedDict):
    data: CreatedApiKeyData
    key: str
    """The secret, shown only here"""
    id: str
    name: str
    scopes: list[Literal["read", "write"]]
    created_at: str
    """ISO 8601, UTC"""


class CreatedApiKeyData(TypedDict):
    id: str
    name: str
    scopes: list[Literal["read", "write"]]
    created_at: str
    """ISO 8601, UTC"""
    prefix: str
    expires_at: str | None
    """ISO 8601, UTC"""
    cargos: list[str] | None
    credits_per_month: float | None
    """Credits, with up to 6 decimals"""
    key: str
    """The secret, shown only here"""


class CreateApiKey(TypedDict):
    name: NotRequired[str]
    expires_at: NotRequired[str | None]
    """When the key expires (401 key_expired); null: never"""
    cargos: NotRequired[list[str] | None]
    """Slugs of the Cargos that the key may run (others: 403 cargo_not_allowed); null: all"""
    credits_per_month: NotRequired[float | None]
    """Maximum cost of its jobs in a calendar month (UTC), charged or held (beyond: 402 key_credits_exceeded); null: unlimited"""


class ChangeApiKey(TypedDict):
    name: NotRequired[str]
    expires_at: NotRequired[str | None]
    """When the key expires (401 key_expired); null: never"""
    cargos: NotRequired[list[str] | None]
    """Slugs of the Cargos that the key may run (others: 403 cargo_not_allowed); null: all"""
    credits_per_month: NotRequired[float | None]
    """Maximum cost of its jobs in a calendar month (UTC), charged or held (beyond: 402 key_credits_exceeded); null: unlimited"""


class IslandToken(TypedDict):
    id: str
    name: str
    created_at: str
    """ISO 8601, UTC"""
    last_used_at: str | None
    """When an Island last started a session with the token; a session can last for weeks"""


class CreateIslandToken(TypedDict):
    name: NotRequired[str]
    """Default: "Island token" """


class PairingCode(TypedDict):
    code: str
    """Eight letters and digits, without 0, 1, I and O"""
    name: str
    """Name of the token that the code is exchanged for"""
    expires_at: str
    """ISO 8601, UTC"""


class IslandDetail(TypedDict):
    id: str
    """Host id, a UUID"""
    name: str
    """Name given by its owner; otherwise the machine's name, or one derived from its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, but takes no new jobs (paused by its owner, outside its hours, or shutting down). quarantined: several jobs in a row failed, and it gets few jobs or none. suspended: by the operator; its agent retries once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not reply, and the status is derived from last_seen_at"""
    suspended_because: str | None
    """Reason given by the operator; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandDetailRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is loading from disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Downloads of models and images in progress, at most 10"""
    running: list[IslandDetailRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of these jobs"""
    earned: IslandEarnings
    days: list[IslandDay]
    """The last 30 UTC days including today, oldest first, without gaps"""
    cached_cargos: list[str]
    """Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected"""
    cached_models: list[str]
    """Models and images on its disk, at most 200; empty unless it is connected"""


class IslandDetailRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class IslandDetailRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class IslandDay(TypedDict):
    day: str
    """Day in UTC"""
    uptime: float | None
    """Share of the day connected, 0 to 1; null before the Island was first seen"""
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
    """Attempts that failed or were lost here and were retried"""


class RenameIsland(TypedDict):
    name: str
    """Empty: restore the default name"""


class Recommendation(TypedDict):
    workload_slug: str
    model_url: str
    model_hash: str | None
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    estimated_earnings_per_job: str
    queued_demand: int
    demand_score: int
    is_default: bool
    """Whether chats without `model` use it"""


class QueueLine(TypedDict):
    workload_slug: str
    only_islands_of: str | None
    """Account whose Islands may run them; other Islands may not until the Cargo is approved"""
    jobs: int
    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    message: str
    """Why the oldest job waits, as seen by the coordinator that has the most of these jobs"""
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
    """Attempts begun so far"""
    island_id: str | None
    error_code: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    price: float
    """Credits, with up to 6 decimals"""
    credits_used: float
    """Credits, with up to 6 decimals"""
    created_at: str
    """ISO 8601, UTC"""
    started_at: str | None
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""


class AuditLine(TypedDict):
    id: int
    """Id of the entry; increases with time"""
    at: str
    """ISO 8601, UTC"""
    via: Literal["api", "command"]
    actor: str
    """The operator's account; for a command, the user of the operating system"""
    actor_email: str | None
    """Null for a command and for a deleted account"""
    origin: str
    """The client's address; for a command, the machine's name"""
    action: str
    """Action; ends in `.failed` if it was refused"""
    target: AuditLineTarget
    before: NotRequired[Any]
    """JSON or null"""
    after: NotRequired[Any]
    """JSON or null"""


class AuditLineTarget(TypedDict):
    kind: Literal["account", "announcement", "cargo", "coordinator", "island"]
    id: str


class SettingInForce(TypedDict):
    key: str
    value: str | None
    """Value in the key's units; null: unset; (hidden): a secret is set"""
    source: Literal["flag", "environment", "file", "default"]
    default: str
    """Default, or the meaning of an unset key"""
    environment: str
    """Name of its environment variable"""
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
    """Islands of the account, connected or not"""
    suspended: Suspension | None
    created_at: str
    """ISO 8601, UTC"""


class Suspension(TypedDict):
    reason: str
    since: str
    """ISO 8601, UTC"""


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
    """Islands of the account, connected or not"""
    suspended: Suspension | None
    created_at: str
    """ISO 8601, UTC"""
    limits: AccountLimits


class AccountLimits(TypedDict):
    requests_per_minute: int
    concurrent_jobs: int
    concurrent_streams: int
    share: int
    """Weight in the fair share of slot time"""


class SetAccountLimits(TypedDict):
    requests_per_minute: NotRequired[int | None]
    """Omitted: unchanged; null: restore the default"""
    concurrent_jobs: NotRequired[int | None]
    """Omitted: unchanged; null: restore the default"""
    concurrent_streams: NotRequired[int | None]
    """Omitted: unchanged; null: restore the default"""
    share: NotRequired[int | None]
    """Omitted: unchanged; null: restore the default"""


class GrantCredits(TypedDict):
    credits: float
    """Credits to add; negative: take back; not 0"""
    note: NotRequired[str]
    """Shown to the account"""


class Suspend(TypedDict):
    reason: str
    """Reason, shown to the suspended account"""


class KnownIsland(TypedDict):
    id: str
    """Host id, a UUID"""
    name: str
    """Name given by its owner; otherwise the machine's name, or one derived from its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, but takes no new jobs (paused by its owner, outside its hours, or shutting down). quarantined: several jobs in a row failed, and it gets few jobs or none. suspended: by the operator; its agent retries once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not reply, and the status is derived from last_seen_at"""
    suspended_because: str | None
    """Reason given by the operator; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[KnownIslandRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is loading from disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Downloads of models and images in progress, at most 10"""
    running: list[KnownIslandRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    account_id: str
    """Account of the owner"""
    account_email: str | None


class KnownIslandRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class KnownIslandRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class KnownIslandDetail(TypedDict):
    id: str
    """Host id, a UUID"""
    name: str
    """Name given by its owner; otherwise the machine's name, or one derived from its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, but takes no new jobs (paused by its owner, outside its hours, or shutting down). quarantined: several jobs in a row failed, and it gets few jobs or none. suspended: by the operator; its agent retries once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not reply, and the status is derived from last_seen_at"""
    suspended_because: str | None
    """Reason given by the operator; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[KnownIslandDetailRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is loading from disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Downloads of models and images in progress, at most 10"""
    running: list[KnownIslandDetailRunningItem]
    """The oldest 10 jobs on the Island, with their Cargo and start"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Tokens of these jobs"""
    earned: IslandEarnings
    days: list[IslandDay]
    """The last 30 UTC days including today, oldest first, without gaps"""
    cached_cargos: list[str]
    """Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected"""
    cached_models: list[str]
    """Models and images on its disk, at most 200; empty unless it is connected"""
    account_id: str
    """Account of the owner"""
    account_email: str | None


class KnownIslandDetailRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    version: str


class KnownIslandDetailRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class KnownCargo(TypedDict):
    slug: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine", None]
    status: Literal["offered", "waiting", "unpinned", "off", "disabled", "hidden"]
    origin: Literal["shipped", "imported", "owned"]
    owner_id: str | None
    owner_email: str | None
    pinned: bool | None
    """Null for a Cargo that is invalid in this version"""
    price_per_job: float | None
    """Current price for new jobs; null for a Cargo that is invalid in this version"""
    shipped_price_per_job: float | None
    """Price in the shipped catalog; null for other Cargos"""


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
    """What pins it to exact bytes; a null member: not pinned yet. Null: it downloads nothing"""
    approval: CargoApproval | None
    """The last approval, of this definition or an earlier one"""
    price_per_job: float
    """Current price for new jobs"""
    shipped_price_per_job: float | None
    """Price in the shipped catalog; null for other Cargos"""
    signs: SignedCargo
    cargo: dict[str, Any]
    """The whole definition; see docs/reference/cargo-format.md"""


class CargoPin(TypedDict):
    kind: Literal["image_digest", "model_hash", "model_commit"]
    value: str | None


class CargoApproval(TypedDict):
    revision: str
    by: str
    """Operator's account, or user of the operating system"""
    at: str
    """ISO 8601, UTC"""


class SignedCargo(TypedDict):
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"]
    image: str | None
    image_digest: str | None
    """Null for an image: not pinned, the tag decides"""
    command: list[str] | None
    """Null: the image's own command"""
    network: bool
    """Whether it can reach the public internet"""
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
    """SHA-256 of the model's file or files.json, in hex"""
    model_commit: NotRequired[str]
    """Commit of the model's folder on the hub"""


class ApproveCargo(TypedDict):
    image_digest: NotRequired[str]
    """Digest (sha256:…) of the image's manifest"""
    model_hash: NotRequired[str]
    """SHA-256 of the model's file or files.json, in hex"""
    model_commit: NotRequired[str]
    """Commit of the model's folder on the hub"""
    revision: str


class SetCargoPrice(TypedDict):
    price_per_job: float | None
    """Null: restore the shipped price"""


class Announcement(TypedDict):
    id: str
    level: Literal["info", "warning"]
    text: str
    """Plain text"""
    created_at: str
    """ISO 8601, UTC"""
    until: str | None
    """Expiry time. If null, it is shown until an operator removes it"""


class AddAnnouncement(TypedDict):
    level: NotRequired[Literal["info", "warning"]]
    text: str
    until: NotRequired[str | None]
    """Expiry time. If omitted or null, it is shown until an operator removes it"""


class Network(TypedDict):
    islands_online: int
    cargos: list[AvailableCargo]
    """Public Cargos that can run now, by slug; GET /cargos lists all"""
    is_complete: bool
    """False: a coordinator did not reply, and its Islands are missing"""
    registration: Literal["open", "email", "closed"]
    """Registration: open to anyone, open with a confirmed e-mail address, or only by the operator"""
    new_account_credits: float
    """Credits of a new account"""


class Downloads(TypedDict):
    public_url: str | None
    """URL at which other machines reach the coordinator, if the operator set it"""
    files: list[Download]


class Download(TypedDict):
    name: str
    path: str
    """Path on the coordinator; append .sha256 for its hash"""
    package: Literal["island", "client"]
    """The agent for hosts, or a client library"""
    format: Literal["npm", "deb", "wheel"]
    """npm: for `npm install`. deb: for `apt install`. wheel: for `pip install`"""
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
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout", "deleted"]


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
    """Paging of the messages"""


class GetConversationAnswerMeta(TypedDict):
    """Paging of the messages"""

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
    """False: a coordinator did not reply, and its Islands are missing"""


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
    """ISO 8601, UTC"""
    pending_email: str | None
    """New address that is not confirmed yet"""


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
    """The secret, it_…; shown only here"""


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
    """The secret, it_…; shown only here"""
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


class GetIslandEarningsAnswerDataRecentItem(TypedDict):
    job_id: str
    credits: float
    """Credits, with up to 6 decimals"""
    earned_at: str
    """ISO 8601, UTC"""


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
    """False: a coordinator did not reply, and its jobs are missing"""


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


class ListNetworkCargosAnswer(TypedDict):
    data: list[KnownCargo]
    meta: ListNetworkCargosAnswerMeta


class ListNetworkCargosAnswerMeta(TypedDict):
    total: int
    limit: int
    offset: int


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

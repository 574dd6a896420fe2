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
    """When the input was removed: by its owner, or because the operator keeps it no longer"""
    output_removed_at: str | None
    """When output, stream and the message of an error were removed"""
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
    """Attempts begun so far; one that an Island refused does not count"""
    island_id: str | None
    timings: JobWebhookDataTimings | None
    batch_id: str | None
    ignored: list[str]
    """Parameters of the request that the job does without, as in the header `Atoll-Ignored`"""
    output_omitted: bool
    """The output is too large for a webhook; GET /jobs/{id} has it"""


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
    """pending: no job has started. failed: all jobs have ended, at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """In the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more"""
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
    """Only with `include=output`, from job `output_offset` on. Null for a job that is not completed, or whose output was removed or omitted"""
    error: NotRequired[BatchJobError | None]
    """With `output`: why the job failed or timed out"""
    output_omitted: NotRequired[Literal[True]]
    """The output has more than 65536 characters as JSON: read it from GET /jobs/{id}"""


class BatchJobError(TypedDict):
    """With `output`: why the job failed or timed out"""

    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]
    message: str
    retryable: bool


class Health(TypedDict):
    status: Literal["ok", "degraded"]
    version: str
    checks: HealthChecks


class HealthChecks(TypedDict):
    store: Literal["ok", "read_only", "failing"]
    """read_only: the disk is full, another process writes, or the database is away; nothing new is accepted"""
    bus: NotRequired[Literal["ok", "down"]]
    """Of one of several coordinators. down: others cannot be reached; its own jobs and Islands go on"""


class SubmittedJob(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["submitted"]
    input: dict[str, Any]
    created_at: str
    """ISO 8601, UTC"""
    webhook_secret: NotRequired[str]
    """The secret that was made for the webhook; shown only here and when the request is repeated with its Idempotency-Key"""


class SubmitJob(TypedDict):
    workload: str
    """Cargo slug"""
    input: dict[str, Any]
    """Parameters of the Cargo; see its input_schema"""
    priority: NotRequired[int]
    webhook_url: NotRequired[str]
    """URL that gets a signed POST (Standard Webhooks) at the end; https, and not a private address"""
    webhook_secret: NotRequired[str]
    """Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a new one, which only this answer shows"""


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
    """Null if it is longer than 4 KB; empty once it was removed"""


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
    """Empty once it was removed"""
    input_removed_at: str | None
    """When the input was removed: by its owner, or because the operator keeps it no longer"""
    output_removed_at: str | None
    """When output, stream and the message of an error were removed"""
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
    """Attempts begun so far; one that an Island refused does not count"""
    island_id: str | None
    waiting: Waiting | None
    timings: JobTimings | None
    batch_id: str | None
    ignored: list[str]
    """Parameters of the request that the job does without, as in the header `Atoll-Ignored`"""
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
    """Why the job has not started, or runs and is silent; else null"""

    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    position: int
    """Place in the queue of its Cargo; 1 is next"""
    message: str
    """The reason as a sentence"""
    percent: int | None
    """How far the download of the model is, if that is known"""
    phase: Literal["accept", "start", "first_output", "silence", None]
    """What the Island that has the job has yet to do; null while no Island has it"""


class WebhookLog(TypedDict):
    url: str
    state: Literal["waiting", "pending", "delivered", "failed"]
    """waiting: the job or batch has not ended. pending: to be delivered. failed: given up after a day, or because of a 410"""
    attempts: list[WebhookLogAttemptsItem]
    """The last ten tries, oldest first"""


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
    """pending: no job has started. failed: all jobs have ended, at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """In the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more"""
    created_at: str
    """ISO 8601, UTC"""
    completed_at: str | None
    """ISO 8601, UTC"""
    webhook: WebhookLog | None
    webhook_secret: NotRequired[str]
    """The secret that was made for the webhook; shown only here and when the request is repeated with its Idempotency-Key"""


class Batch(TypedDict):
    id: str
    workload_id: int
    workload_slug: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    """pending: no job has started. failed: all jobs have ended, at least one failed or timed out"""
    fail_mode: Literal["best_effort", "fail_fast"]
    priority: int
    counts: BatchCounts
    jobs: list[BatchJob]
    """In the order of the inputs"""
    next_output_offset: NotRequired[int | None]
    """Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more"""
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
    """URL that gets a signed POST (Standard Webhooks) at the end; https, and not a private address"""
    webhook_secret: NotRequired[str]
    """Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a new one, which only this answer shows"""


class JobOutput(TypedDict):
    id: str
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    output: NotRequired[Any]
    """Text so far, the last image as {format, data}, or the output once completed; null before any output"""
    is_complete: bool
    """The job is completed and `output` is all of it"""
    tokens: int
    """Model tokens delivered"""
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
    """A change of state. One with a `message` tells the state again, with the id of the event before, and comes at once and every 5 s while there is no output"""

    type: Literal["status"]
    state: Literal["pending", "queued", "running", "streaming"]
    """streaming: output follows"""
    message: NotRequired[str]
    """Why there is no output yet"""
    percent: NotRequired[int]
    """How far the download of the model is, if that is known"""


class TokenEvent(TypedDict):
    type: Literal["token"]
    content: str
    """Text to append"""


class ReasoningEvent(TypedDict):
    """What a model that thinks wrote beside its answer"""

    type: Literal["reasoning"]
    content: str
    """Thoughts to append"""


class ToolCallEvent(TypedDict):
    """A part of a call of a tool"""

    type: Literal["tool_call"]
    index: int
    """Which call of the answer, from 0"""
    id: NotRequired[str]
    """In the first part of a call"""
    name: NotRequired[str]
    """In the first part of a call"""
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
    """The output, unless it is text that was streamed already"""


class ErrorEvent(TypedDict):
    type: Literal["error"]
    error: str
    code: Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal", "cancelled"]
    retryable: bool
    """A new try may succeed"""


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
    """Null for an answer of calls alone"""
    reasoning_content: NotRequired[str]
    """Thoughts of a model that thinks"""
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
    """Natural logarithm, before temperature, penalties and grammars"""
    bytes: list[int] | None
    top_logprobs: list[ChatCompletionChoicesItemLogprobsContentItemTopLogprobsItem]


class ChatCompletionChoicesItemLogprobsContentItemTopLogprobsItem(TypedDict):
    token: str
    logprob: float
    """Natural logarithm, before temperature, penalties and grammars"""
    bytes: list[int] | None


class ChatCompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cost: float
    """Credits that were charged, with up to 6 decimals"""
    completion_tokens_details: NotRequired[ChatCompletionUsageCompletionTokensDetails]
    """Of answers with thoughts, whose tokens are among completion_tokens"""


class ChatCompletionUsageCompletionTokensDetails(TypedDict):
    """Of answers with thoughts, whose tokens are among completion_tokens"""

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
    """Natural logarithm, before temperature, penalties and grammars"""
    bytes: list[int] | None
    top_logprobs: list[ChatCompletionChunkChoicesItemLogprobsContentItemTopLogprobsItem]


class ChatCompletionChunkChoicesItemLogprobsContentItemTopLogprobsItem(TypedDict):
    token: str
    logprob: float
    """Natural logarithm, before temperature, penalties and grammars"""
    bytes: list[int] | None


class ChatCompletionChunkUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cost: float
    """Credits that were charged, with up to 6 decimals"""
    completion_tokens_details: NotRequired[ChatCompletionChunkUsageCompletionTokensDetails]
    """Of answers with thoughts, whose tokens are among completion_tokens"""


class ChatCompletionChunkUsageCompletionTokensDetails(TypedDict):
    """Of answers with thoughts, whose tokens are among completion_tokens"""

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
    """A new try may succeed"""


class ChatCompletionRequest(TypedDict):
    model: NotRequired[str | None]
    """Slug of a chat Cargo; default: the operator's default chat Cargo"""
    messages: list[ChatCompletionRequestMessagesItem]
    """With at most 16384 parts together"""
    max_completion_tokens: NotRequired[int | None]
    """The newer name of `max_tokens`, which wins"""
    max_tokens: NotRequired[int | None]
    """Lowered to the Cargo's context, or to 4096 where that is more"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[str] | None]
    seed: NotRequired[int | None]
    """The same answer on the same engine and model"""
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: any number"""
    min_p: NotRequired[float | None]
    repeat_penalty: NotRequired[float | None]
    """Divides the logits of tokens that the answer has already; 1: no penalty"""
    logit_bias: NotRequired[dict[str, float] | None]
    """By ids of the model's own vocabulary, at most 300; -100 excludes a token"""
    response_format: NotRequired[ChatCompletionRequestResponseFormat1 | ChatCompletionRequestResponseFormat2 | ChatCompletionRequestResponseFormat3 | None]
    tools: NotRequired[list[ChatCompletionRequestToolsItem1 | ChatCompletionRequestToolsItem2] | None]
    """Functions, 256 KB together; calls by a grammar; see below"""
    tool_choice: NotRequired[Literal["auto", "none", "required"] | ChatCompletionRequestToolChoice2 | ChatCompletionRequestToolChoice3 | None]
    """Or a function by its name, or `allowed_tools`"""
    parallel_tool_calls: NotRequired[bool | None]
    """Default true: up to 16 calls; of a named function always one"""
    logprobs: NotRequired[bool | None]
    """Of text, before temperature, penalties and grammars"""
    top_logprobs: NotRequired[int | None]
    """20 for answers of at most 4761 tokens"""
    reasoning_effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", None]]
    """For Cargos that think; for others ignored"""
    n: NotRequired[int | None]
    """Answers, each a job of its own, one after the other, also on a stream; those before one that fails are charged"""
    stream_options: NotRequired[ChatCompletionRequestStreamOptions | None]
    usage: NotRequired[ChatCompletionRequestUsage | None]
    """OpenRouter's; the answer has the usage, as with `stream_options.include_usage`"""


class ChatCompletionRequestMessagesItem(TypedDict):
    role: Literal["system", "user", "assistant", "tool", "developer"]
    content: NotRequired[str | list[ChatCompletionRequestMessagesItemContentItem] | None]
    """Text, or a list of text parts, which are joined"""
    tool_calls: NotRequired[list[ChatCompletionRequestMessagesItemToolCallsItem] | None]
    """What an assistant called"""
    tool_call_id: NotRequired[str | None]
    """The call that a `tool` message answers"""


class ChatCompletionRequestMessagesItemContentItem(TypedDict):
    type: Literal["text"]
    """Other kinds are refused"""
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
    """Not OpenAI's: with `json_object`, kept as a `json_schema`"""


class ChatCompletionRequestResponseFormat3(TypedDict):
    type: Literal["json_schema"]
    json_schema: ChatCompletionRequestResponseFormat3JsonSchema


class ChatCompletionRequestResponseFormat3JsonSchema(TypedDict):
    name: NotRequired[str]
    """In errors only"""
    schema: dict[str, Any]
    """A JSON Schema"""
    strict: NotRequired[bool | None]
    """Check what a grammar cannot keep"""


class ChatCompletionRequestToolsItem1(TypedDict):
    type: Literal["function"]
    function: ChatCompletionRequestToolsItem1Function


class ChatCompletionRequestToolsItem1Function(TypedDict):
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """A part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """The JSON Schema of an object; with `strict` kept as that of `response_format`, else as far as a grammar can"""
    strict: NotRequired[bool | None]
    """Arguments are valid by `parameters`, or the answer fails (`schema_unmet`)"""


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
    """OpenRouter's; the answer has the usage, as with `stream_options.include_usage`"""

    include: NotRequired[bool | None]


class TextCompletion(TypedDict):
    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextCompletionChoicesItem]
    usage: NotRequired[TextCompletionUsage]
    """Of a stream: in its last chunk, if it was asked for"""


class TextCompletionChoicesItem(TypedDict):
    index: int
    text: str
    logprobs: None
    finish_reason: Literal["stop", "length", "tool_calls", None]


class TextCompletionUsage(TypedDict):
    """Of a stream: in its last chunk, if it was asked for"""

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
    """Continued as it is, without the model's chat template. A list: one job for each text, four at once; lists of tokens are refused"""
    max_tokens: NotRequired[int | None]
    """Default 16; lowered as in chats"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[str] | None]
    seed: NotRequired[int | None]
    """The same answer on the same engine and model"""
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: any number"""
    min_p: NotRequired[float | None]
    repeat_penalty: NotRequired[float | None]
    """Divides the logits of tokens that the answer has already; 1: no penalty"""
    logit_bias: NotRequired[dict[str, float] | None]
    """By ids of the model's own vocabulary, at most 300; -100 excludes a token"""
    echo: NotRequired[bool | None]
    """Begin each text with its prompt"""
    stream: NotRequired[bool | None]
    """For one prompt"""
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
    """`end_turn` also for an answer that a stop sequence ended on an Island that does not say which"""
    stop_sequence: str | None
    usage: AnthropicMessageUsage


class AnthropicMessageContentItem1(TypedDict):
    type: Literal["thinking"]
    thinking: str
    signature: str
    """Empty: nothing is signed"""


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
    """Empty: nothing is signed"""


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
    """With at most 16384 parts together"""
    system: NotRequired[str | list[MessageRequestSystemItem] | None]
    """Text, or a list of text blocks, which are joined"""
    tools: NotRequired[list[MessageRequestToolsItem1 | MessageRequestToolsItem2] | None]
    """Your own, 256 KB together; built-in ones are not offered to the model"""
    tool_choice: NotRequired[MessageRequestToolChoice1 | MessageRequestToolChoice2 | MessageRequestToolChoice3 | MessageRequestToolChoice4 | None]
    thinking: NotRequired[MessageRequestThinking1 | MessageRequestThinking2 | MessageRequestThinking3 | None]
    """For a Cargo that thinks; by default it does not. For others, `enabled` is ignored"""
    max_tokens: int
    """Lowered as in chats"""
    temperature: NotRequired[float | None]
    """Default 1"""
    top_p: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: any number"""
    stop_sequences: NotRequired[list[str] | None]
    stream: NotRequired[bool | None]
    output_config: NotRequired[MessageRequestOutputConfig | None]


class MessageRequestMessagesItem(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str | list[MessageRequestMessagesItemContentItem1 | MessageRequestMessagesItemContentItem2 | MessageRequestMessagesItemContentItem3 | MessageRequestMessagesItemContentItem4 | MessageRequestMessagesItemContentItem5]
    """Text, or a list of blocks; texts are joined"""


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
    """A part of the prompt"""
    input_schema: dict[str, Any]
    """The JSON Schema of an object"""
    strict: NotRequired[bool | None]
    """The input is valid by `input_schema`, or the answer fails (`schema_unmet`)"""


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
    """Of 2048 and more, 2048 are used"""


class MessageRequestOutputConfig(TypedDict):
    format: NotRequired[MessageRequestOutputConfigFormat | None]


class MessageRequestOutputConfigFormat(TypedDict):
    type: Literal["json_schema"]
    schema: dict[str, Any]
    """As `response_format` of chats, with `strict`"""


class CountedTokens(TypedDict):
    input_tokens: int


class CountTokensRequest(TypedDict):
    model: str
    """Slug or alias of a chat Cargo"""
    messages: list[CountTokensRequestMessagesItem]
    """With at most 16384 parts together"""
    system: NotRequired[str | list[CountTokensRequestSystemItem] | None]
    """Text, or a list of text blocks, which are joined"""
    tools: NotRequired[list[CountTokensRequestToolsItem1 | CountTokensRequestToolsItem2] | None]
    """Your own, 256 KB together; built-in ones are not offered to the model"""
    tool_choice: NotRequired[CountTokensRequestToolChoice1 | CountTokensRequestToolChoice2 | CountTokensRequestToolChoice3 | CountTokensRequestToolChoice4 | None]
    thinking: NotRequired[CountTokensRequestThinking1 | CountTokensRequestThinking2 | CountTokensRequestThinking3 | None]
    """For a Cargo that thinks; by default it does not. For others, `enabled` is ignored"""


class CountTokensRequestMessagesItem(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str | list[CountTokensRequestMessagesItemContentItem1 | CountTokensRequestMessagesItemContentItem2 | CountTokensRequestMessagesItemContentItem3 | CountTokensRequestMessagesItemContentItem4 | CountTokensRequestMessagesItemContentItem5]
    """Text, or a list of blocks; texts are joined"""


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
    """A part of the prompt"""
    input_schema: dict[str, Any]
    """The JSON Schema of an object"""
    strict: NotRequired[bool | None]
    """The input is valid by `input_schema`, or the answer fails (`schema_unmet`)"""


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
    """Of 2048 and more, 2048 are used"""


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
    """Thoughts of a model that thinks"""
    encrypted_content: str
    """Opaque; nothing is encrypted, as `content` has it all"""


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
    """Empty unless they were asked for"""


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
    """Of a function that a namespace has"""
    arguments: str
    """JSON"""


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
    """In errors only"""
    schema: dict[str, Any]
    """As `response_format` of chats"""
    strict: NotRequired[bool | None]
    """As `response_format` of chats"""


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
    """Thoughts of a model that thinks"""
    encrypted_content: str
    """Opaque; nothing is encrypted, as `content` has it all"""


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
    """Empty unless they were asked for"""


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
    """Of a function that a namespace has"""
    arguments: str
    """JSON"""


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
    """Thoughts of a model that thinks"""
    encrypted_content: str
    """Opaque; nothing is encrypted, as `content` has it all"""


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
    """Empty unless they were asked for"""


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
    """Of a function that a namespace has"""
    arguments: str
    """JSON"""


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
    """Empty unless they were asked for"""


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
    """Empty unless they were asked for"""


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
    """With at most 16384 parts together"""
    instructions: NotRequired[str | None]
    previous_response_id: NotRequired[str | None]
    """A stored response that has ended with an answer, whole or cut by `max_output_tokens`: its conversation comes before `input`, without its instructions"""
    max_output_tokens: NotRequired[int | None]
    """Lowered as in chats"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    text: NotRequired[ResponseRequestText | None]
    tools: NotRequired[list[ResponseRequestToolsItem1 | ResponseRequestToolsItem2 | ResponseRequestToolsItem3] | None]
    """Functions and namespaces of functions, 256 KB together; calls by a grammar"""
    tool_choice: NotRequired[Literal["auto", "none", "required"] | ResponseRequestToolChoice2 | ResponseRequestToolChoice3 | None]
    parallel_tool_calls: NotRequired[bool | None]
    """Default true: up to 16 calls; of a named function always one"""
    include: NotRequired[list[Literal["message.output_text.logprobs", "reasoning.encrypted_content", "file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs"]] | None]
    """`reasoning.encrypted_content` is for Cargos that think; for others it is ignored"""
    top_logprobs: NotRequired[int | None]
    """20 for answers of at most 4761 tokens"""
    reasoning: NotRequired[ResponseRequestReasoning | None]
    stream: NotRequired[bool | None]
    store: NotRequired[bool | None]
    """Default true. False: prompt and answer are removed when the response has ended, however it ends"""
    background: NotRequired[bool | None]
    """Answer at once; the response goes on without its client, who asks for it by its id. Without `stream`, and with `store`"""
    metadata: NotRequired[dict[str, str] | None]
    """Up to 16 texts"""


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
    """The model reads `{"input": …}`"""


class ResponseRequestInputItem4(TypedDict):
    type: Literal["local_shell_call"]
    call_id: str
    action: dict[str, Any]
    """The model reads its JSON"""


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
    """An item of a stored response"""


class ResponseRequestText(TypedDict):
    format: NotRequired[ResponseRequestTextFormat1 | ResponseRequestTextFormat2 | ResponseRequestTextFormat3 | None]


class ResponseRequestTextFormat1(TypedDict):
    type: Literal["text"]


class ResponseRequestTextFormat2(TypedDict):
    type: Literal["json_object"]


class ResponseRequestTextFormat3(TypedDict):
    type: Literal["json_schema"]
    name: str
    """In errors only"""
    schema: dict[str, Any]
    """As `response_format` of chats"""
    strict: NotRequired[bool | None]
    """As `response_format` of chats"""


class ResponseRequestToolsItem1(TypedDict):
    type: Literal["function"]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """A part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """The JSON Schema of an object, as in `text.format`"""
    strict: NotRequired[bool | None]
    """Arguments are valid by `parameters`, or the answer fails (`schema_unmet`)"""


class ResponseRequestToolsItem2(TypedDict):
    type: Literal["namespace"]
    name: str
    description: NotRequired[str | None]
    tools: list[ResponseRequestToolsItem2ToolsItem1 | ResponseRequestToolsItem2ToolsItem2]
    """Of a namespace: the model knows the function `lookup` of `crm` as `crm__lookup`"""


class ResponseRequestToolsItem2ToolsItem1(TypedDict):
    type: Literal["function"]
    name: str
    """1 to 64 of a-z, A-Z, 0-9, _ and -"""
    description: NotRequired[str | None]
    """A part of the prompt"""
    parameters: NotRequired[dict[str, Any] | None]
    """The JSON Schema of an object, as in `text.format`"""
    strict: NotRequired[bool | None]
    """Arguments are valid by `parameters`, or the answer fails (`schema_unmet`)"""


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
    """For Cargos that think; for others ignored"""


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
    """A text, or several, of which each 256, or 255 KiB, are a job; lists of tokens are refused"""
    model: NotRequired[str | None]
    """Slug or alias of a Cargo with the task feature-extraction. Default: the operator's (default_embedding_cargo)"""
    dimensions: NotRequired[int | None]
    """The model's own number; another is refused once the vectors are made, which is charged"""


class Reranking(TypedDict):
    id: str
    """Of the job"""
    object: Literal["list"]
    model: str
    results: list[RerankingResultsItem]
    """Best first"""
    usage: RerankingUsage
    meta: RerankingMeta
    """`usage` in the shape of Cohere's client"""


class RerankingResultsItem(TypedDict):
    index: int
    """Of the document in the request"""
    relevance_score: float
    """By a Cargo that ranks, or (1 + cosine of the two vectors) / 2. To compare within one answer only"""
    document: NotRequired[RerankingResultsItemDocument]


class RerankingResultsItemDocument(TypedDict):
    text: str


class RerankingUsage(TypedDict):
    prompt_tokens: int
    total_tokens: int


class RerankingMeta(TypedDict):
    """`usage` in the shape of Cohere's client"""

    tokens: RerankingMetaTokens


class RerankingMetaTokens(TypedDict):
    input_tokens: int
    output_tokens: Literal[0]


class RerankRequest(TypedDict):
    model: NotRequired[str | None]
    """Default: the operator's (default_rerank_cargo). Slug of a Cargo with the task text-ranking or feature-extraction"""
    query: str
    documents: list[str | RerankRequestDocumentsItem]
    top_n: NotRequired[int | None]
    """Best results to return; default: all"""
    return_documents: NotRequired[bool | None]
    """Default: false"""


class RerankRequestDocumentsItem(TypedDict):
    text: str


class Moderation(TypedDict):
    id: str
    """Of the last text's job"""
    model: str
    results: list[ModerationResultsItem]


class ModerationResultsItem(TypedDict):
    flagged: bool
    """Any category is true"""
    categories: ModerationResultsItemCategories
    """True from a score of 0.5 on"""
    category_scores: ModerationResultsItemCategoryScores
    """0 for a category that the Cargo does not know"""
    category_applied_input_types: ModerationResultsItemCategoryAppliedInputTypes
    """Empty for a category that the Cargo does not know"""
    labels: list[ModerationResultsItemLabelsItem]
    """The Cargo's own, best first: what is not one of OpenAI's categories is here only"""


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
    """Default: the operator's (default_moderation_cargo). Slug of an onnx Cargo with the task text-classification"""
    input: str | list[str | ModerationRequestInputItem]
    """A text, or several, a job each, four at once"""


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
    """When it is removed; null: never by itself"""
    filename: str
    purpose: Literal["assistants", "batch", "batch_output", "evals", "fine-tune", "user_data", "vision"]
    status: Literal["processed"]
    sha256: str
    """Of the content, in hexadecimal"""


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
    """Why it failed"""
    input_file_id: str
    completion_window: Literal["24h"]
    status: Literal["validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"]
    output_file_id: str | None
    """Lines with an answer"""
    error_file_id: str | None
    """Lines without one"""
    created_at: int
    in_progress_at: int | None
    """Unix time in seconds; null: not (yet)"""
    expires_at: int
    finalizing_at: int | None
    """Unix time in seconds; null: not (yet)"""
    completed_at: int | None
    """Unix time in seconds; null: not (yet)"""
    failed_at: int | None
    """Unix time in seconds; null: not (yet)"""
    expired_at: int | None
    """Unix time in seconds; null: not (yet)"""
    cancelling_at: int | None
    """Unix time in seconds; null: not (yet)"""
    cancelled_at: int | None
    """Unix time in seconds; null: not (yet)"""
    request_counts: FileBatchRequestCounts
    metadata: dict[str, str] | None


class FileBatchErrors(TypedDict):
    """Why it failed"""

    object: Literal["list"]
    data: list[FileBatchErrorsDataItem]


class FileBatchErrorsDataItem(TypedDict):
    code: str
    message: str
    param: str | None
    line: int | None
    """From 1; null: not about a line"""


class FileBatchRequestCounts(TypedDict):
    total: int
    completed: int
    failed: int


class CreateFileBatch(TypedDict):
    input_file_id: str
    """A JSONL file with the purpose `batch`"""
    endpoint: str
    """Endpoint of every line; docs/use/files-and-batches.md lists those that batches support"""
    completion_window: Literal["24h"]
    metadata: NotRequired[dict[str, str] | None]
    output_expires_after: NotRequired[CreateFileBatchOutputExpiresAfter | None]
    """How long the files of results live; never longer than the coordinator keeps files"""


class CreateFileBatchOutputExpiresAfter(TypedDict):
    """How long the files of results live; never longer than the coordinator keeps files"""

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
    """Always 0: pictures have no tokens here"""
    total_tokens: int


class ImagesUsageInputTokensDetails(TypedDict):
    text_tokens: int
    image_tokens: int


class ImagesRequest(TypedDict):
    prompt: str
    model: NotRequired[str | None]
    """Slug of a Cargo that draws, or an alias of one. Default: the operator's (default_image_cargo)"""
    n: NotRequired[int | None]
    """Default: 1. Each is a job of its own, one after the other"""
    size: NotRequired[str | None]
    """`auto` (default: the Cargo's own) or width and height, as in `512x512`; another than the Cargo can draw is 422"""
    response_format: NotRequired[Literal["b64_json"]]
    output_format: NotRequired[Literal["png"]]
    negative_prompt: NotRequired[str | None]
    """Not OpenAI's; what not to draw"""
    steps: NotRequired[int | None]
    """Not OpenAI's; steps of the sampler, default: the Cargo's"""
    guidance_scale: NotRequired[float | None]
    """Not OpenAI's; how closely to follow the prompt"""
    seed: NotRequired[int | None]
    """Not OpenAI's; the same seed draws the same picture. Picture number i of n has the seed plus i, from 0"""


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
    """A long text is several jobs, cut between sentences"""
    model: NotRequired[str | None]
    """Slug of a Cargo that speaks, or an alias of one. Default: the operator's (default_speech_cargo)"""
    voice: NotRequired[str | None]
    """A voice of the Cargo; `default` or none: the Cargo's first. OpenAI's names are 422 where the Cargo has other ones"""
    speed: NotRequired[float | None]
    """Default: 1; 422 if the Cargo has one speed only"""
    response_format: NotRequired[Literal["mp3", "wav", "pcm", None]]
    """Default: mp3. pcm: 24 kHz, 16 bit, mono, little-endian"""


class Transcription(TypedDict):
    text: str
    task: NotRequired[Literal["transcribe", "translate"]]
    """Of verbose_json, like what follows"""
    language: NotRequired[str]
    """As it was asked for"""
    duration: NotRequired[float]
    """Seconds"""
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
    """Slug of a Cargo that writes speech down, or an alias. Default: the operator's (default_transcription_cargo)"""
    response_format: NotRequired[Literal["json", "text", "srt", "vtt", "verbose_json"]]


class Model(TypedDict):
    id: str
    """Slug of the Cargo, or the alias"""
    object: Literal["model"]
    created: int
    """When it came into the catalog of this network: Unix time in seconds"""
    owned_by: str
    type: Literal["chat", "embedding", "rerank", "classification", "image", "transcription", "speech"]
    capabilities: list[str]
    """Endpoints that serve it, by their paths"""
    alias_of: str | None
    """Slug of the Cargo that an alias stands for"""
    is_default: bool
    """Requests to an endpoint of its `capabilities` that name no model run on it"""
    available: bool
    """A connected Island can run it now; else requests wait for one"""
    ready: bool
    """An Island that can run it now has its model or image, or needs none: no download first"""
    free: int
    """Islands that can run it now and have a free slot"""
    pricing: ModelPricing
    """A request costs `per_job` for each of its jobs, however many tokens it has"""
    context_length: int | None
    """Tokens of prompt and answer together; null: no limit is known"""
    max_output_tokens: int | None
    """Most tokens of an answer, for `max_tokens`; null: it does not chat"""
    tokens_per_second: float | None
    """Median of the last 100 jobs in 24 h, measured by the coordinator that answers, since it started; null: none was measured"""
    first_token_ms: int | None
    """Median time from a chat's submission to its first token, measured in the same way"""
    tool_calls: Literal["template", "grammar", None]
    """Who tells it of tools; null: nobody, it calls none. template: its own chat template. grammar: our text in the prompt. A grammar keeps its calls either way"""
    reasoning: bool
    """It thinks before it answers: `reasoning_content`, `reasoning_effort`"""


class ModelPricing(TypedDict):
    """A request costs `per_job` for each of its jobs, however many tokens it has"""

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
    """Slug of a chat Cargo; default: the operator's default chat Cargo"""
    system_prompt: NotRequired[str | None]
    metadata: NotRequired[dict[str, str] | None]
    """For the client's own use: at most 16 entries"""


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
    """Of an answer in progress: the text so far"""
    status: Literal["in_progress", "completed", "failed", "cancelled", "timeout"]
    job_id: str | None
    """Of an answer: the job that produces it"""
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
    """Fields that are left out stay as they are; a title of null removes the title"""

    title: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    """For the client's own use: at most 16 entries"""


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
    """Lowered to the Cargo's context, or to 4096 where that is more"""
    temperature: NotRequired[float | None]
    """Default 0.7"""
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[str] | None]
    seed: NotRequired[int | None]
    """The same answer on the same engine and model"""
    frequency_penalty: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    top_k: NotRequired[int | None]
    """0: any number"""
    min_p: NotRequired[float | None]
    repeat_penalty: NotRequired[float | None]
    """Divides the logits of tokens that the answer has already; 1: no penalty"""
    logit_bias: NotRequired[dict[str, float] | None]
    """By ids of the model's own vocabulary, at most 300; -100 excludes a token"""
    response_format: NotRequired[PostMessageResponseFormat1 | PostMessageResponseFormat2 | PostMessageResponseFormat3 | None]
    max_completion_tokens: NotRequired[int | None]
    tools: NotRequired[None]
    """Not served: null"""


class PostMessageResponseFormat1(TypedDict):
    type: Literal["text"]


class PostMessageResponseFormat2(TypedDict):
    type: Literal["json_object"]


class PostMessageResponseFormat3(TypedDict):
    type: Literal["json_schema"]
    json_schema: PostMessageResponseFormat3JsonSchema


class PostMessageResponseFormat3JsonSchema(TypedDict):
    name: NotRequired[str]
    """In errors only"""
    schema: dict[str, Any]
    """A JSON Schema"""
    strict: NotRequired[bool | None]
    """Check what a grammar cannot keep"""


class AvailableCargo(TypedDict):
    slug: str
    islands: int
    """Connected Islands that may run it"""
    ready: int
    """Those that have its model or image, or need none"""
    free: int
    """Those with a free slot"""


class Cargo(TypedDict):
    slug: str
    name: str
    description: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    onnx_task_type: str | None
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    price_per_job: float
    """Credits, with up to 6 decimals"""
    required_vram_mb: int
    required_ram_mb: int
    context_tokens: int | None
    licence: str
    model_sha256: str | None
    """Of the model's file, in hexadecimal; null: the Cargo has none, has a folder of files, or names no hash"""
    chat: bool
    """Can be the `model` of a chat completion"""


class CargoDetail(TypedDict):
    slug: str
    name: str
    description: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    onnx_task_type: str | None
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    price_per_job: float
    """Credits, with up to 6 decimals"""
    required_vram_mb: int
    required_ram_mb: int
    context_tokens: int | None
    licence: str
    model_sha256: str | None
    """Of the model's file, in hexadecimal; null: the Cargo has none, has a folder of files, or names no hash"""
    chat: bool
    """Can be the `model` of a chat completion"""
    workload_id: int
    task: str | None
    """What it does, by the model hub's names, as feature-extraction or text-ranking; null: it chats, or its schemas say it"""
    input_schema: dict[str, Any]
    """JSON Schema of a job's input"""
    example_input: dict[str, Any]
    output_schema: dict[str, Any]
    """JSON Schema of a job's output; {} allows any JSON value"""
    run_limit_s: float
    wait_limit_s: float
    accept_limit_s: float | None
    """Limit of this phase of an attempt; null: the coordinator's setting"""
    start_limit_s: float | None
    """Limit of this phase of an attempt; null: the coordinator's setting"""
    first_output_limit_s: float | None
    """Limit of this phase of an attempt; null: the coordinator's setting"""
    silence_limit_s: float | None
    """Limit of this phase of an attempt; null: the coordinator's setting"""
    approved: bool
    """By the operator. Until then only its owner sees and runs it"""


class OwnedCargo(TypedDict):
    slug: str
    name: str
    description: str
    category: Literal["llm", "image", "audio", "vision", "text", "utility"]
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
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
    """By the operator. Until then only you see and run it"""
    revision: int
    """Number of changes so far, the first version included"""
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
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
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
    runtime_type: NotRequired[Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]]
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
    """First, and whenever something may have been missed or too much changed at once: read your lists now. What changes from here on is sent"""

    type: Literal["reset"]


class JobChangedEvent(TypedDict):
    """A job is new or in another state: the row of GET /jobs, without workload_id and input"""

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
    """The same as workload_slug"""
    code: NotRequired[Literal["wait_timeout", "no_island_fits", "run_timeout", "island_lost", "island_refused", "island_silent", "cannot_resume", "cargo_unavailable", "invalid_input", "file_unavailable", "invalid_output", "context_length_exceeded", "model_unavailable", "model_hash_mismatch", "model_invalid", "disk_full", "manifest_untrusted", "out_of_memory", "output_too_large", "schema_unmet", "runtime_unavailable", "runtime_crashed", "cargo_failed", "shutting_down", "internal"]]
    """Why it failed or timed out"""
    updated_at: str
    """ISO 8601, UTC"""


class IslandChangedEvent(TypedDict):
    """An Island came or went, was renamed, or says something else of itself: the row of GET /islands"""

    id: str
    """Its host id, a UUID"""
    name: str
    """By its owner; else of its machine, or made of its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at"""
    suspended_because: str | None
    """What the operator says; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandChangedEventRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is on its way from the disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Models and images that it fetches now, at most 10"""
    running: list[IslandChangedEventRunningItem]
    """Jobs that it has now, the oldest 10: of which Cargo, and since when"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Of these jobs"""
    earned: IslandEarnings
    type: Literal["island"]
    online: bool
    """Its status is not offline"""


class IslandChangedEventRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    version: str


class IslandChangedEventRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class IslandHardware(TypedDict):
    """After the caps of its owner. What is not known is null"""

    platform: str
    arch: str
    os_name: str | None
    cpu_model: str | None
    logical_cores: int
    physical_cores: int | None
    ram_mb: int
    """In MB of 2^20 bytes"""
    gpus: list[IslandHardwareGpusItem]
    disk_free_mb: int | None
    """In MB of 2^20 bytes"""
    disk_budget_mb: int
    """In MB of 2^20 bytes"""


class IslandHardwareGpusItem(TypedDict):
    vendor: str | None
    name: str
    vram_mb: int | None
    """In MB of 2^20 bytes"""
    unified_memory: bool
    driver: str | None


class IslandLoad(TypedDict):
    """As it last said: every 10 s. What is not known is null"""

    slots: int
    """Jobs that it runs at the same time"""
    slots_busy: int
    cpu: float | None
    """0 to 1, over all cores"""
    gpu: float | None
    """0 to 1, of its busiest graphics card"""
    free_ram_mb: int | None
    """In MB of 2^20 bytes"""
    free_vram_mb: int | None
    """In MB of 2^20 bytes"""
    temperature_c: float | None
    """Of its hottest processor or graphics card, in degrees Celsius"""


class IslandDownload(TypedDict):
    """As it last said. What is not known is null"""

    cargo: str
    """Slug"""
    fraction: float | None
    """0 to 1; null while the size is not known"""
    received_bytes: int | None
    total_bytes: int | None
    bytes_per_second: int | None
    """Of the last 10 s"""


class IslandUptime(TypedDict):
    """Share of the time connected, 0 to 1, in the UTC day, the last 7 and the last 30 UTC days with today, and not before it was first seen. Stored once a minute; a crash of a coordinator loses up to a minute"""

    today: float | None
    days_7: float | None
    days_30: float | None


class IslandJobs(TypedDict):
    """Jobs that ended here in the last 30 UTC days; stored as uptime is"""

    completed: int
    failed: int
    cancelled: int
    timeout: int
    retried: int
    """Attempts that failed or were lost here, and whose jobs were tried again"""


class IslandEarnings(TypedDict):
    """As in the ledger, by the UTC day of the entry"""

    today: float
    """Credits, with up to 6 decimals"""
    days_7: float
    """Credits, with up to 6 decimals"""
    days_30: float
    """Credits, with up to 6 decimals"""


class Island(TypedDict):
    id: str
    """Its host id, a UUID"""
    name: str
    """By its owner; else of its machine, or made of its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at"""
    suspended_because: str | None
    """What the operator says; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is on its way from the disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Models and images that it fetches now, at most 10"""
    running: list[IslandRunningItem]
    """Jobs that it has now, the oldest 10: of which Cargo, and since when"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Of these jobs"""
    earned: IslandEarnings


class IslandRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    version: str


class IslandRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class IslandRemovedEvent(TypedDict):
    """GET /islands does not list it any more"""

    type: Literal["island_removed"]
    id: str


class BalanceEvent(TypedDict):
    """`credits` of GET /account"""

    type: Literal["balance"]
    balance: float
    """Credits, with up to 6 decimals"""


class AccountChangedEvent(TypedDict):
    """Its address, role or limits, its API keys, sessions or Island tokens changed: `data` of GET /account. Read again what you show of them"""

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
    """Over all coordinators, at most a second and a half old; the number of known Islands is at most as many ms old as it is"""

    islands: OverviewEventIslands
    slots: OverviewEventSlots
    """Of Islands that take new jobs"""
    jobs: OverviewEventJobs
    waiting_by_reason: list[OverviewEventWaitingByReasonItem]
    tokens_per_second: float
    first_token_ms: OverviewEventFirstTokenMs
    """From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off"""
    errors_last_minute: int
    """Jobs that failed or timed out"""
    coordinators: list[CoordinatorOverview]
    is_complete: bool
    """False: the sums lack a coordinator, which does not answer"""
    type: Literal["overview"]


class OverviewEventIslands(TypedDict):
    online: int
    known: int


class OverviewEventSlots(TypedDict):
    """Of Islands that take new jobs"""

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
    """From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off"""

    p50: float | None
    p99: float | None


class CoordinatorOverview(TypedDict):
    id: str | None
    """Null for a coordinator that is alone"""
    address: str
    version: str
    answers: bool
    """False: it said nothing in time, and its part is missing in the sums"""
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
    """Over all coordinators, at most a second and a half old; the number of known Islands is at most as many ms old as it is"""

    islands: NetworkOverviewIslands
    slots: NetworkOverviewSlots
    """Of Islands that take new jobs"""
    jobs: NetworkOverviewJobs
    waiting_by_reason: list[NetworkOverviewWaitingByReasonItem]
    tokens_per_second: float
    first_token_ms: NetworkOverviewFirstTokenMs
    """From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off"""
    errors_last_minute: int
    """Jobs that failed or timed out"""
    coordinators: list[CoordinatorOverview]
    is_complete: bool
    """False: the sums lack a coordinator, which does not answer"""


class NetworkOverviewIslands(TypedDict):
    online: int
    known: int


class NetworkOverviewSlots(TypedDict):
    """Of Islands that take new jobs"""

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
    """From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off"""

    p50: float | None
    p99: float | None


class ChangeAccount(TypedDict):
    current_password: str
    password: NotRequired[str]
    email: NotRequired[str]


class LedgerLine(TypedDict):
    id: int
    """Increases with time"""
    kind: Literal["grant", "correction", "hold", "charge", "release", "earning"]
    """grant: credits given. correction: credits that an operator took back. hold: set aside when a job is submitted. charge: taken from what was set aside. release: set aside, not charged, and returned. earning: an Island of the account ran a job"""
    amount: float
    """Change of `credits`; negative: fewer"""
    held: float
    """Change of the credits set aside for unfinished jobs"""
    balance: float
    """`credits` afterwards"""
    job_id: str | None
    """On an earning: a job of any account"""
    batch_id: str | None
    """On the hold of a whole batch; its jobs are charged and released one by one"""
    workload_slug: str | None
    """Cargo of the job or batch"""
    note: str | None
    """What an operator said of a grant or correction"""
    created_at: str
    """ISO 8601, UTC"""


class UsageLine(TypedDict):
    day: str | None
    """When the jobs ended, in UTC"""
    kind: Literal["spent", "earned"]
    """spent: charged for jobs. earned: with Islands of the account"""
    workload_slug: str | None
    api_key_id: str | None
    """The key that submitted the jobs; null for a session, and for what is earned"""
    jobs: int
    """Jobs that cost or earned something"""
    prompt_tokens: int
    completion_tokens: int
    credits: float
    """Credits, with up to 6 decimals"""


class Session(TypedDict):
    token: str
    """st_…; has every scope and can manage keys"""
    expires_at: str
    """ISO 8601, UTC"""
    account: Account


class CookieSession(TypedDict):
    """A session whose token is in the cookie `atoll_session` alone"""

    expires_at: str
    """ISO 8601, UTC"""
    account: Account


class Credentials(TypedDict):
    email: str
    password: str


class EmailProof(TypedDict):
    password: str
    token: str
    """ep_…, from the mail"""


class AccountSession(TypedDict):
    id: str
    created_at: str
    """ISO 8601, UTC"""
    last_used_at: str | None
    """ISO 8601, UTC; up to a minute old. Null: never"""
    expires_at: str
    """ISO 8601, UTC"""
    current: bool
    """The session that asks"""


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
    """What a key with credits_per_month has spent of it; null for others"""


class CreatedApiKey(TypedDict):
    data: CreatedApiKeyData
    key: str
    """The secret; shown only here"""
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
    """The secret; shown only here"""


class CreateApiKey(TypedDict):
    name: NotRequired[str]
    expires_at: NotRequired[str | None]
    """The key is refused from then on (401 key_expired); null: never"""
    cargos: NotRequired[list[str] | None]
    """Slugs of the Cargos that it may run, others are 403 cargo_not_allowed; null: all"""
    credits_per_month: NotRequired[float | None]
    """What its jobs may cost in a calendar month (UTC): charged, or held while they are unfinished. More is 402 key_credits_exceeded; null: any amount"""


class ChangeApiKey(TypedDict):
    name: NotRequired[str]
    expires_at: NotRequired[str | None]
    """The key is refused from then on (401 key_expired); null: never"""
    cargos: NotRequired[list[str] | None]
    """Slugs of the Cargos that it may run, others are 403 cargo_not_allowed; null: all"""
    credits_per_month: NotRequired[float | None]
    """What its jobs may cost in a calendar month (UTC): charged, or held while they are unfinished. More is 402 key_credits_exceeded; null: any amount"""


class IslandToken(TypedDict):
    id: str
    name: str
    created_at: str
    """ISO 8601, UTC"""
    last_used_at: str | None
    """When an Island last began a session with it; a session may last for weeks"""


class CreateIslandToken(TypedDict):
    name: NotRequired[str]
    """Default: "Island token" """


class PairingCode(TypedDict):
    code: str
    """Eight letters and digits, none of 0, 1, I and O"""
    name: str
    """Of the token that the code becomes"""
    expires_at: str
    """ISO 8601, UTC"""


class IslandDetail(TypedDict):
    id: str
    """Its host id, a UUID"""
    name: str
    """By its owner; else of its machine, or made of its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at"""
    suspended_because: str | None
    """What the operator says; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[IslandDetailRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is on its way from the disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Models and images that it fetches now, at most 10"""
    running: list[IslandDetailRunningItem]
    """Jobs that it has now, the oldest 10: of which Cargo, and since when"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Of these jobs"""
    earned: IslandEarnings
    days: list[IslandDay]
    """The last 30 UTC days with today, oldest first, without a gap"""
    cached_cargos: list[str]
    """Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected"""
    cached_models: list[str]
    """Models and images on its disk, at most 200; empty unless it is connected"""


class IslandDetailRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    version: str


class IslandDetailRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class IslandDay(TypedDict):
    day: str
    """UTC"""
    uptime: float | None
    """Share of the day connected, 0 to 1; null before it was first seen"""
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
    """Attempts that failed or were lost here, and whose jobs were tried again"""


class RenameIsland(TypedDict):
    name: str
    """Empty: the default name again"""


class Recommendation(TypedDict):
    workload_slug: str
    model_url: str
    model_hash: str | None
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    estimated_earnings_per_job: str
    queued_demand: int
    demand_score: int
    is_default: bool
    """Chats without a model use it"""


class QueueLine(TypedDict):
    workload_slug: str
    only_islands_of: str | None
    """The account whose Islands alone may run them, until the Cargo is approved"""
    jobs: int
    reason: Literal["own_islands_only", "no_island_online", "no_island_offers_runtime", "no_island_fits", "all_busy", "all_refused", "all_failing", "model_downloading", "starting", "no_output", "account_limit"]
    message: str
    """Of the oldest of them at the coordinator that has most"""
    waiting_since: str
    """Of the one that waits longest"""


class KnownJob(TypedDict):
    """Without what its owner asked and got, which operators do not see"""

    id: str
    account_id: str
    account_email: str | None
    """Null for an account that was deleted"""
    batch_id: str | None
    workload_slug: str
    status: Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
    chat: bool
    """A client waits for the answer"""
    priority: int
    attempts: int
    """Begun so far"""
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
    """Increases with time"""
    at: str
    """ISO 8601, UTC"""
    via: Literal["api", "command"]
    actor: str
    """The operator's account; of a command the user of the operating system"""
    actor_email: str | None
    """Null for a command, and for an account that was deleted"""
    origin: str
    """The client's address; of a command the machine's name"""
    action: str
    """With `.failed` for one that was refused"""
    target: AuditLineTarget
    before: NotRequired[Any]
    """JSON, or null"""
    after: NotRequired[Any]
    """JSON, or null"""


class AuditLineTarget(TypedDict):
    kind: Literal["account", "announcement", "cargo", "coordinator", "island"]
    id: str


class SettingInForce(TypedDict):
    key: str
    value: str | None
    """In the key's units; null: unset; (hidden): a secret that is set"""
    source: Literal["flag", "environment", "file", "default"]
    default: str
    """Or what an unset key means"""
    environment: str
    """Name of its variable"""
    allowed: str
    meaning: str


class KnownAccount(TypedDict):
    id: str
    email: str
    role: Literal["user", "operator"]
    credits: float
    """Credits, with up to 6 decimals"""
    held: float
    """Set aside for unfinished jobs"""
    unfinished_jobs: int
    islands: int
    """Known ones, connected or not"""
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
    """Set aside for unfinished jobs"""
    unfinished_jobs: int
    islands: int
    """Known ones, connected or not"""
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
    """Left out: as it is; null: the default again"""
    concurrent_jobs: NotRequired[int | None]
    """Left out: as it is; null: the default again"""
    concurrent_streams: NotRequired[int | None]
    """Left out: as it is; null: the default again"""
    share: NotRequired[int | None]
    """Left out: as it is; null: the default again"""


class GrantCredits(TypedDict):
    credits: float
    """Negative: taken back; not 0"""
    note: NotRequired[str]
    """Shown to the account"""


class Suspend(TypedDict):
    reason: str
    """Told to who is suspended"""


class KnownIsland(TypedDict):
    id: str
    """Its host id, a UUID"""
    name: str
    """By its owner; else of its machine, or made of its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at"""
    suspended_because: str | None
    """What the operator says; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[KnownIslandRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is on its way from the disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Models and images that it fetches now, at most 10"""
    running: list[KnownIslandRunningItem]
    """Jobs that it has now, the oldest 10: of which Cargo, and since when"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    account_id: str
    """Of its owner"""
    account_email: str | None


class KnownIslandRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    version: str


class KnownIslandRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class KnownIslandDetail(TypedDict):
    id: str
    """Its host id, a UUID"""
    name: str
    """By its owner; else of its machine, or made of its id"""
    status: Literal["online", "paused", "quarantined", "offline", "suspended"]
    """paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute"""
    is_live: bool
    """False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at"""
    suspended_because: str | None
    """What the operator says; null unless suspended"""
    agent_version: str
    hardware: IslandHardware
    runtimes: list[KnownIslandDetailRuntimesItem]
    load: IslandLoad | None
    """Null unless it is connected"""
    loaded: list[str]
    """Slugs of Cargos whose model is in memory, at most 10"""
    loading: list[str]
    """Slugs of Cargos whose model is on its way from the disk into memory, at most 10"""
    downloads: list[IslandDownload]
    """Models and images that it fetches now, at most 10"""
    running: list[KnownIslandDetailRunningItem]
    """Jobs that it has now, the oldest 10: of which Cargo, and since when"""
    first_seen_at: str
    """ISO 8601, UTC"""
    last_seen_at: str
    """ISO 8601, UTC"""
    uptime: IslandUptime
    jobs: IslandJobs
    tokens: int
    """Of these jobs"""
    earned: IslandEarnings
    days: list[IslandDay]
    """The last 30 UTC days with today, oldest first, without a gap"""
    cached_cargos: list[str]
    """Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected"""
    cached_models: list[str]
    """Models and images on its disk, at most 200; empty unless it is connected"""
    account_id: str
    """Of its owner"""
    account_email: str | None


class KnownIslandDetailRuntimesItem(TypedDict):
    type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    version: str


class KnownIslandDetailRunningItem(TypedDict):
    cargo: str
    since: str
    """ISO 8601, UTC"""


class KnownCargo(TypedDict):
    slug: str
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", None]
    status: Literal["offered", "waiting", "unpinned", "off", "disabled", "hidden"]
    origin: Literal["shipped", "imported", "owned"]
    owner_id: str | None
    owner_email: str | None
    pinned: bool | None
    """Null for a Cargo that breaks a rule of this version"""
    price_per_job: float | None
    """In force for new jobs; null as above"""
    shipped_price_per_job: float | None
    """That of its file; null unless it is shipped"""


class CargoReview(TypedDict):
    slug: str
    name: str
    description: str
    status: Literal["offered", "waiting", "unpinned", "off", "disabled", "hidden"]
    origin: Literal["shipped", "imported", "owned"]
    owner_id: str | None
    owner_email: str | None
    revision: str
    """Hash of all of `cargo`; an approval names it"""
    pin: CargoPin | None
    """What ties it to exact bytes; a null value: nothing does yet. Null: it fetches nothing"""
    approval: CargoApproval | None
    """The last one, of this definition or an earlier one"""
    price_per_job: float
    """In force for new jobs"""
    shipped_price_per_job: float | None
    """That of its file; null unless it is shipped"""
    signs: SignedCargo
    cargo: dict[str, Any]
    """The whole definition; see catalog/README.md"""


class CargoPin(TypedDict):
    kind: Literal["image_digest", "model_hash", "model_commit"]
    value: str | None


class CargoApproval(TypedDict):
    revision: str
    by: str
    """Account of an operator, or user of the operating system"""
    at: str
    """ISO 8601, UTC"""


class SignedCargo(TypedDict):
    runtime_type: Literal["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"]
    image: str | None
    image_digest: str | None
    """Null for an image: NOT PINNED, the tag decides"""
    command: list[str] | None
    """Null: the image's own"""
    network: bool
    """True: it reaches the public internet"""
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
    """sha256:… of the image's manifest"""
    model_hash: NotRequired[str]
    """SHA-256 of the model's file or files.json, in hex"""
    model_commit: NotRequired[str]
    """Commit of the model's folder on the hub"""


class ApproveCargo(TypedDict):
    image_digest: NotRequired[str]
    """sha256:… of the image's manifest"""
    model_hash: NotRequired[str]
    """SHA-256 of the model's file or files.json, in hex"""
    model_commit: NotRequired[str]
    """Commit of the model's folder on the hub"""
    revision: str


class SetCargoPrice(TypedDict):
    price_per_job: float | None
    """Null: the shipped price again"""


class Announcement(TypedDict):
    id: str
    level: Literal["info", "warning"]
    text: str
    """Plain text"""
    created_at: str
    """ISO 8601, UTC"""
    until: str | None
    """Null: until it is removed"""


class AddAnnouncement(TypedDict):
    level: NotRequired[Literal["info", "warning"]]
    text: str
    until: NotRequired[str | None]
    """Left out or null: until it is removed"""


class Network(TypedDict):
    islands_online: int
    cargos: list[AvailableCargo]
    """Public Cargos that can run now, by slug; GET /cargos lists all"""
    is_complete: bool
    """False: a coordinator did not answer; its Islands are missing"""
    registration: Literal["open", "email", "closed"]
    """Who may open an account: everybody, whoever proves an e-mail address, or only the operator"""
    new_account_credits: float
    """What a new account gets"""


class Downloads(TypedDict):
    public_url: str | None
    """Address at which other machines reach the coordinator, if the operator set it"""
    files: list[Download]


class Download(TypedDict):
    name: str
    path: str
    """Below the coordinator's address; with .sha256 after it, its hash"""
    package: Literal["island", "client"]
    """The agent of hosts, or the client of programs"""
    format: Literal["npm", "deb", "wheel"]
    """npm: for `npm install`. deb: for `apt install`. wheel: for `pip install`"""
    version: str
    size_bytes: int
    sha256: str
    """In hexadecimal"""


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
    """Of the messages"""


class GetConversationAnswerMeta(TypedDict):
    """Of the messages"""

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
    """False: a coordinator did not answer; its Islands are missing"""


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
    """An address that waits for its proof"""


class DeleteAccountAnswer(TypedDict):
    data: DeleteAccountAnswerData


class DeleteAccountAnswerData(TypedDict):
    id: str
    deleted: Literal[True]
    kept: list[str]
    """What stays for the books, under the account's id"""


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
    """Of the latest jobs that earned something, newest first; at most 100"""


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
    """False: a coordinator did not answer"""


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

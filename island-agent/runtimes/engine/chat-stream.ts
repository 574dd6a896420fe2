import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { ToolUse } from "../../../shared/chat-tools.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { FinishReason, OutputItem, Phases, Usage } from "../../../shared/output.ts";
import {
  MAX_PROBABLE_CHARS,
  MAX_PROBABLE_TOKENS,
  MAX_TOP_LOGPROBS,
  MIN_LOGPROB,
  type TokenProbability,
} from "../../../shared/token-probability.ts";
import type { RunResult } from "../runtime.ts";
import { EngineFailure, failureIn, PAUSES_MS, readText } from "./engine-connection.ts";

const MAX_EVENT_CHARS = 8 * MIB;
/** Finish reasons of a response that the engine gave up. */
const GIVEN_UP = ["abort", "cancelled", "error"];

const text = z.string().nullish();
const tokensSchema = z.number().int().min(0).max(1_000_000_000);
const entrySchema = z.object({
  token: z.string(),
  logprob: z.number().nullable(),
  bytes: z.array(z.number().int().min(0).max(255)).nullish(),
});
/** What a response adds: `delta` of a stream's event, or `message` of a whole response. */
const partSchema = z.object({
  content: text,
  /** Names of several engines for the same text. */
  reasoning_content: text,
  reasoning: text.catch(undefined),
  tool_calls: z
    .array(
      z.object({
        index: z.number().int().min(0).nullish(),
        id: text,
        function: z.object({ name: text, arguments: text }).nullish(),
      }),
    )
    .nullish(),
});
type CallPart = NonNullable<z.infer<typeof partSchema>["tool_calls"]>[number];
const msSchema = z.number().nonnegative();
const chunkSchema = z.object({
  model: text,
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        /** Only in text completions. */
        text,
        delta: partSchema.nullish(),
        message: partSchema.nullish(),
        finish_reason: text,
        /** vLLM: the stop sequence, or the id of a token. SGLang's name for it: `matched_stop`. */
        stop_reason: z.unknown().optional(),
        matched_stop: z.unknown().optional(),
        logprobs: z
          .object({
            content: z.array(entrySchema.extend({ top_logprobs: z.array(entrySchema).nullish() })).nullish(),
          })
          .nullish()
          .catch(undefined),
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: tokensSchema,
      completion_tokens: tokensSchema.nullish(),
      prompt_tokens_details: z.object({ cached_tokens: tokensSchema.nullish() }).nullish().catch(undefined),
    })
    .nullish(),
  /** llama-server: cached tokens of the prompt, and the time for the rest of the prompt and for the output. */
  timings: z
    .object({ cache_n: tokensSchema.nullish(), prompt_ms: msSchema.nullish(), predicted_ms: msSchema.nullish() })
    .nullish()
    .catch(undefined),
  /** llama-server: how much of the prompt has been read. */
  prompt_progress: z.unknown().optional(),
  error: z.unknown().optional(),
});
type Chunk = z.infer<typeof chunkSchema>;
type Choice = NonNullable<Chunk["choices"]>[number];

interface StreamOptions {
  /** Name of the model that must write the response. */
  readonly modelId: string;
  /** Whether the text before the completion is delivered as reasoning. Otherwise it is dropped. */
  readonly reasons: boolean;
  readonly stop: readonly string[];
  /** Tools that the model may call. Default: none. */
  readonly toolUse?: ToolUse | null;
  readonly onOutput: (item: OutputItem) => void;
  readonly onWorking: () => void;
}

/**
 * Reads the stream of a chat or text completion (server-sent events, WHATWG HTML) until its end.
 * @throws {EngineFailure} for a stream that breaks, is not OpenAI's, or is of another model; {@link JobFailure} for a
 * response that the request does not allow.
 */
export async function readChatStream(response: IncomingMessage, options: StreamOptions): Promise<RunResult> {
  const chat = new ChatStream(options);
  const type = response.headers["content-type"] ?? "text/event-stream";
  try {
    if (type.startsWith("application/json")) chat.read(await readText(response, MAX_EVENT_CHARS));
    else if (type.startsWith("text/event-stream")) await readEvents(response, (data) => chat.read(data));
    else throw garbage(`its content type is ${type.slice(0, 100)}`);
  } catch (cause) {
    if (cause instanceof JobFailure) throw cause;
    throw new EngineFailure("The engine closed the connection before the response was complete", {
      pauseMs: PAUSES_MS.gone,
      cause,
    });
  }
  return chat.result();
}

/** Reads the data of each event until "[DONE]" or the end. Listeners cost less CPU per event than an async iterator. */
function readEvents(response: IncomingMessage, read: (data: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let rest = "";
  let isOver = false;
  const readLines = (piece: string): void => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_EVENT_CHARS) throw garbage(`an event has more than ${MAX_EVENT_CHARS} characters`);
    for (const line of lines) {
      const data = /^\uFEFF?data:(.*)$/s.exec(line)?.[1]?.trim() ?? "";
      isOver = data === "[DONE]";
      if (isOver) return;
      if (data !== "") read(data);
    }
  };
  response.setEncoding("utf8").on("data", (piece: string) => {
    try {
      // The socket serves further runs, unless the engine goes on after the end.
      if (isOver) response.destroy();
      else readLines(piece);
      if (isOver) resolve();
    } catch (error) {
      isOver = true;
      reject(error);
    }
  });
  response.on("end", resolve).on("error", reject);
  response.on("close", () => reject(new Error("closed before the end")));
  // The connection may have broken before the listeners were attached.
  if (response.destroyed) reject(response.errored ?? new Error("closed before the end"));
  return promise;
}

function phasesOf({ prompt_ms: promptMs, predicted_ms: outputMs }: NonNullable<Chunk["timings"]>): Phases {
  return { ...(promptMs == null ? {} : { promptMs }), ...(outputMs == null ? {} : { outputMs }) };
}

/** The response of one run, as far as it was read. */
class ChatStream {
  readonly #options: StreamOptions;
  #tokens = 0;
  #usage: Usage | null = null;
  #phases: Phases | null = null;
  #finish: FinishReason | null = null;
  #stopSequence: string | undefined;
  /** Tool calls that were delivered, by the engine's index. `place`: their index in the completion. */
  readonly #calls = new Map<number, { readonly id: string; readonly place: number }>();
  #callCount = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Reads the data of an event, or a whole response. */
  read(data: string): void {
    const chunk = readChunk(data);
    if (chunk.error != null) throw failureIn(textOfError(chunk.error));
    const { modelId, onWorking } = this.#options;
    if (typeof chunk.model === "string" && chunk.model !== "" && chunk.model !== modelId) {
      const message = `The engine responded with the model ${chunk.model.slice(0, 200)} instead of ${modelId}`;
      throw new EngineFailure(message, { pauseMs: PAUSES_MS.gone });
    }
    if (chunk.prompt_progress != null) onWorking();
    for (const choice of chunk.choices ?? []) if ((choice.index ?? 0) === 0) this.#readChoice(choice);
    if (chunk.timings != null) this.#phases = phasesOf(chunk.timings);
    if (chunk.usage == null) return;
    const { prompt_tokens: promptTokens, completion_tokens: completionTokens, prompt_tokens_details } = chunk.usage;
    const cachedTokens = prompt_tokens_details?.cached_tokens ?? chunk.timings?.cache_n;
    const cached = cachedTokens == null ? {} : { cachedTokens };
    this.#usage = { promptTokens, completionTokens: completionTokens ?? this.#tokens, ...cached };
  }

  /** @throws {JobFailure} */
  result(): RunResult {
    if (this.#finish === null) {
      throw new EngineFailure("The engine ended the response without a finish reason", { pauseMs: PAUSES_MS.gone });
    }
    if (this.#options.toolUse?.isRequired === true && this.#callCount === 0) {
      throw new JobFailure("invalid_output", "The model called no tool, although a call was required", {
        retryable: true,
      });
    }
    const usage = this.#usage ?? { promptTokens: 0, completionTokens: this.#tokens };
    const stopSequence = this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence };
    const phases = this.#phases === null ? {} : { phases: this.#phases };
    return { finishReason: this.#finish, ...stopSequence, usage, ...phases };
  }

  #readChoice({ text: raw, delta, message, finish_reason: finish, logprobs, ...choice }: Choice): void {
    const { onOutput, onWorking, reasons, stop, toolUse } = this.#options;
    const part = delta ?? message;
    const reasoning = part?.reasoning_content ?? part?.reasoning ?? "";
    if (reasoning !== "") {
      if (reasons) onOutput({ type: "reasoning", content: reasoning, count: this.#count() });
      else onWorking();
    }
    const content = raw ?? part?.content ?? "";
    // A required call comes without text.
    if (content !== "" && toolUse?.isRequired === true) onWorking();
    else if (content !== "") {
      const probabilities = logprobs?.content?.slice(0, MAX_PROBABLE_TOKENS).map(probabilityOf) ?? [];
      const optional = probabilities.length === 0 ? {} : { logprobs: probabilities };
      onOutput({ type: "token", content, count: this.#count(), ...optional });
    }
    for (const [position, call] of (part?.tool_calls ?? []).entries()) this.#readCall(call, call.index ?? position);
    // KoboldCpp has the text "null" until the end.
    if (finish == null || finish === "null") return;
    if (GIVEN_UP.includes(finish)) {
      throw new EngineFailure(`The engine gave up the response with the finish reason ${finish}`);
    }
    this.#finish = finish === "length" ? "length" : this.#callCount > 0 ? "tool_calls" : "stop";
    const stopped = choice.stop_reason ?? choice.matched_stop;
    if (typeof stopped === "string" && stop.includes(stopped)) this.#stopSequence = stopped;
  }

  #readCall({ id, function: called }: CallPart, index: number): void {
    const { onOutput, onWorking, toolUse } = this.#options;
    const name = called?.name ?? "";
    const pieces = called?.arguments ?? "";
    const known = this.#calls.get(index);
    // Some engines give several calls the same index.
    const isNew = name !== "" && (known === undefined || (id != null && id !== "" && id !== known.id));
    if (!isNew) {
      if (known === undefined || pieces === "") return;
      onOutput({ type: "tool_call", index: known.place, arguments: pieces, count: this.#count() });
      return;
    }
    // Not every engine respects parallel_tool_calls.
    if (toolUse == null || this.#callCount >= toolUse.maxCalls) {
      this.#calls.delete(index);
      onWorking();
      return;
    }
    if (!toolUse.tools.some((tool) => tool.name === name)) {
      throw new JobFailure("invalid_output", `The model called the unknown tool ${name.slice(0, 64)}`, {
        retryable: true,
      });
    }
    const place = this.#callCount++;
    this.#calls.set(index, { id: id ?? "", place });
    const hasId = id != null && id.length >= 1 && id.length <= 64;
    const callId = hasId ? id : `call_${crypto.randomUUID().replaceAll("-", "")}`;
    onOutput({ type: "tool_call", index: place, id: callId, name, arguments: pieces, count: this.#count() });
  }

  /** Counts one token: engines send each token in an event of its own, apart from incomplete characters. */
  #count(): number {
    this.#tokens += 1;
    return 1;
  }
}

function readChunk(data: string): Chunk {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw garbage("an event is not JSON");
  }
  const parsed = chunkSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw garbage(`${issue?.path.join(".") ?? "an event"}: ${issue?.message ?? "is wrong"}`);
}

function textOfError(error: unknown): string {
  const { message } = error as { readonly message?: unknown };
  return typeof error === "string" ? error : typeof message === "string" ? message : "unknown error";
}

function garbage(why: string): EngineFailure {
  return new EngineFailure(`The engine's response is not in the form of OpenAI's API: ${why}`, {
    pauseMs: PAUSES_MS.garbage,
  });
}

function probabilityOf({
  top_logprobs: top,
  ...entry
}: z.infer<typeof entrySchema> & {
  top_logprobs?: readonly z.infer<typeof entrySchema>[] | null | undefined;
}): TokenProbability {
  return { ...entryOf(entry), top: (top ?? []).slice(0, MAX_TOP_LOGPROBS).map(entryOf) };
}

function entryOf({ token, logprob, bytes }: z.infer<typeof entrySchema>): Omit<TokenProbability, "top"> {
  const limited = Math.min(0, Math.max(MIN_LOGPROB, logprob ?? MIN_LOGPROB));
  const shown = { token: token.slice(0, MAX_PROBABLE_CHARS), logprob: limited };
  // The bytes are needed only where the text is not a whole character.
  return token.includes("\uFFFD") && bytes != null ? { ...shown, bytes: bytes.slice(0, MAX_PROBABLE_CHARS) } : shown;
}

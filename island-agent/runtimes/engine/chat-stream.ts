import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { MAX_TOOL_CALLS } from "../../../shared/chat-tools.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { FinishReason, OutputItem, Usage } from "../../../shared/output.ts";
import { MAX_PROBABLE_CHARS, MIN_LOGPROB, type TokenProbability } from "../../../shared/token-probability.ts";
import type { RunResult } from "../runtime.ts";
import { EngineFailure } from "./engine-connection.ts";

const MAX_EVENT_CHARS = 8 * MIB;
/** Pause of an engine whose responses are not those of OpenAI's API. */
const GARBAGE_PAUSE_MS = 30_000;

const text = z.string().nullish();
const tokensSchema = z.number().int().min(0).max(1_000_000_000);
const entrySchema = z.object({
  token: z.string(),
  logprob: z.number().nullable(),
  bytes: z.array(z.number().int().min(0).max(255)).nullish(),
});
const chunkSchema = z.object({
  model: text,
  choices: z
    .array(
      z.object({
        /** Only in text completions. */
        text,
        delta: z
          .object({
            content: text,
            /** Names of several engines for the same text. */
            reasoning_content: text,
            reasoning: text,
            tool_calls: z
              .array(
                z.object({
                  index: z
                    .number()
                    .int()
                    .min(0)
                    .max(MAX_TOOL_CALLS - 1)
                    .nullish(),
                  id: text,
                  function: z.object({ name: text, arguments: text }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: text,
        /** vLLM and SGLang: the stop sequence, or the id of a token. */
        stop_reason: z.unknown().optional(),
        logprobs: z
          .object({
            content: z.array(entrySchema.extend({ top_logprobs: z.array(entrySchema).nullish() })).nullish(),
          })
          .nullish()
          .catch(undefined),
      }),
    )
    .nullish(),
  usage: z.object({ prompt_tokens: tokensSchema, completion_tokens: tokensSchema.nullish() }).nullish(),
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
  readonly onOutput: (item: OutputItem) => void;
  readonly onWorking: () => void;
}

/**
 * Reads the stream of a chat or text completion (server-sent events, WHATWG HTML) until its end.
 * @throws {EngineFailure} for a stream that breaks, is not OpenAI's, or is of another model.
 */
export async function readChatStream(response: IncomingMessage, options: StreamOptions): Promise<RunResult> {
  const chat = new ChatStream(options);
  response.setEncoding("utf8");
  let rest = "";
  try {
    for await (const piece of response as AsyncIterable<string>) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_EVENT_CHARS) throw garbage(`an event has more than ${MAX_EVENT_CHARS} characters`);
      for (const line of lines) if (line.startsWith("data:")) chat.read(line.slice(5).trim());
    }
  } catch (cause) {
    if (cause instanceof EngineFailure) throw cause;
    throw new EngineFailure("The engine closed the connection before the response was complete", {
      pauseMs: 1_000,
      cause,
    });
  }
  return chat.result();
}

/** The response of one run, as far as it was read. */
class ChatStream {
  readonly #options: StreamOptions;
  #tokens = 0;
  #usage: Usage | null = null;
  #finish: FinishReason | null = null;
  #stopSequence: string | undefined;
  /** Indexes of the tool calls whose id and name were delivered. */
  readonly #calls = new Set<number>();

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  read(data: string): void {
    if (data === "" || data === "[DONE]") return;
    const chunk = readChunk(data);
    if (chunk.error !== undefined && chunk.error !== null) throw failureIn(chunk.error);
    const { modelId } = this.#options;
    if (typeof chunk.model === "string" && chunk.model !== "" && chunk.model !== modelId) {
      throw new EngineFailure(`The engine responded with the model ${chunk.model} instead of ${modelId}`, {
        pauseMs: 1_000,
      });
    }
    for (const choice of chunk.choices ?? []) this.#readChoice(choice);
    if (chunk.usage == null) return;
    const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = chunk.usage;
    this.#usage = { promptTokens, completionTokens: completionTokens ?? this.#tokens };
  }

  result(): RunResult {
    if (this.#finish === null) {
      throw new EngineFailure("The engine ended the response without a finish reason", { pauseMs: 1_000 });
    }
    const usage = this.#usage ?? { promptTokens: 0, completionTokens: this.#tokens };
    const stopSequence = this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence };
    return { finishReason: this.#finish, ...stopSequence, usage };
  }

  #readChoice({ text: raw, delta, finish_reason: finish, stop_reason: stopReason, logprobs }: Choice): void {
    const { onOutput, onWorking, reasons, stop } = this.#options;
    const reasoning = delta?.reasoning_content ?? delta?.reasoning ?? "";
    if (reasoning !== "") {
      if (reasons) onOutput({ type: "reasoning", content: reasoning, count: this.#count() });
      else onWorking();
    }
    const content = raw ?? delta?.content ?? "";
    if (content !== "") {
      const probabilities = logprobs?.content?.map(probabilityOf) ?? [];
      const optional = probabilities.length === 0 ? {} : { logprobs: probabilities };
      onOutput({ type: "token", content, count: this.#count(), ...optional });
    }
    for (const [position, call] of (delta?.tool_calls ?? []).entries()) this.#readCall(call, call.index ?? position);
    if (finish == null) return;
    this.#finish = finish === "length" ? "length" : this.#calls.size > 0 ? "tool_calls" : "stop";
    if (typeof stopReason === "string" && stop.includes(stopReason)) this.#stopSequence = stopReason;
  }

  #readCall(
    { id, function: called }: { id?: string | null | undefined; function?: Called | null | undefined },
    index: number,
  ): void {
    const { onOutput } = this.#options;
    const pieces = called?.arguments ?? "";
    if (this.#calls.has(index)) {
      if (pieces !== "") onOutput({ type: "tool_call", index, arguments: pieces, count: this.#count() });
      return;
    }
    const name = called?.name ?? "";
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) throw garbage("a tool call has no valid name");
    this.#calls.add(index);
    const hasId = typeof id === "string" && id.length >= 1 && id.length <= 64;
    const callId = hasId ? id : `call_${crypto.randomUUID().replaceAll("-", "")}`;
    onOutput({ type: "tool_call", index, id: callId, name, arguments: pieces, count: this.#count() });
  }

  /** Counts one token: engines send each token in an event of its own, apart from incomplete characters. */
  #count(): number {
    this.#tokens += 1;
    return 1;
  }
}

interface Called {
  readonly name?: string | null | undefined;
  readonly arguments?: string | null | undefined;
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

function failureIn(error: unknown): EngineFailure {
  const { message } = error as { readonly message?: unknown };
  const why = typeof error === "string" ? error : typeof message === "string" ? message : "unknown error";
  return new EngineFailure(`The engine failed during the response: ${why.slice(0, 300)}`, { pauseMs: 2_000 });
}

function garbage(why: string): EngineFailure {
  return new EngineFailure(`The engine's response is not in the form of OpenAI's API: ${why}`, {
    pauseMs: GARBAGE_PAUSE_MS,
  });
}

function probabilityOf({
  top_logprobs: top,
  ...entry
}: z.infer<typeof entrySchema> & {
  top_logprobs?: readonly z.infer<typeof entrySchema>[] | null | undefined;
}): TokenProbability {
  return { ...entryOf(entry), top: (top ?? []).map(entryOf) };
}

function entryOf({ token, logprob, bytes }: z.infer<typeof entrySchema>): Omit<TokenProbability, "top"> {
  const limited = Math.min(0, Math.max(MIN_LOGPROB, logprob ?? MIN_LOGPROB));
  const shown = { token: token.slice(0, MAX_PROBABLE_CHARS), logprob: limited };
  // The bytes are needed only where the text is not a whole character.
  return token.includes("\uFFFD") && bytes != null ? { ...shown, bytes: bytes.slice(0, MAX_PROBABLE_CHARS) } : shown;
}

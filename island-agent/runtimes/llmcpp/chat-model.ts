import { randomInt, randomUUID } from "node:crypto";
import {
  ChatWrapper,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  type LlamaModel,
  resolveChatWrapper,
  type Token,
  type ChatWrapperGenerateContextStateOptions,
  type ChatWrapperGeneratedContextState,
  LlamaText,
  SpecialToken,
  SpecialTokensText,
  type ChatModelSegment,
} from "node-llama-cpp";
import type { ChatRequest } from "../../../shared/chat-input.ts";
import type { ChatRead } from "../../../shared/chat-reading.ts";
import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import type { OutputItem, Phases, PromptTokens, Usage, FinishReason } from "../../../shared/output.ts";
import type { HostRun } from "../host/host-protocol.ts";
import type { RunResult } from "../runtime.ts";
import { Completion } from "./completion.ts";
import type { BatchLoop } from "./batch-loop.ts";
import { historyOf } from "./chat-history.ts";
import { endingsOf, endTokensOf, generateText } from "./generate-text.ts";
import { generateWithChat } from "./generate-with-chat.ts";
import { LogitReader } from "./logit-reader.ts";
import { type AnswerTokens, countTokens, readAnswer, tokenizeAnswer } from "./read-answer.ts";
import { ResumableTemplate } from "./resumable-template.ts";
import { grammarFor } from "./response-grammar.ts";
import { samplingOf } from "./sampling.ts";
import { SequencePool } from "./sequence-pool.ts";
import { TokenProbabilities } from "./token-probabilities.ts";
import { ToolGrammars } from "./tools/tool-grammar.ts";
import { toolTemplate } from "./tools/tool-template.ts";
import { hiddenMarks, messagesWithTools } from "./tools/tool-text.ts";
import { REASONING_BUDGETS, type ReasoningEffort } from "../../../shared/reasoning.ts";
import { ToolCallReader } from "./tools/tool-call-reader.ts";

/** Start of a completion without reasoning, which the library renders as reasoning that has ended. */
const NO_REASONING: readonly ChatModelSegment[] = [{ type: "segment", segmentType: "thought", text: "", ended: true }];

/**
 * Context slots that node-llama-cpp leaves free: one slot for generation, and one because it compares with "less than".
 */
const RESERVED_TOKENS = 2;

interface Listener {
  readonly onOutput: (item: OutputItem) => void;
  readonly onPrompt: (prompt: PromptTokens) => void;
}

/** The prompt of a run while it is read. */
interface PromptWatch {
  phases(): Phases;
  end(): void;
}

interface ChatModelParts {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly loop: BatchLoop;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Whether the model reasons before it responds and the reasoning is delivered. */
  readonly canThink: boolean;
  readonly rendersTools: boolean;
}

/** A loaded model that generates several completions at the same time in one context. */
export class ChatModel {
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #context: LlamaContext;
  readonly #contextTokens: number;
  readonly #template: ChatWrapper;
  readonly #canThink: boolean;
  readonly #rendersTools: boolean;
  readonly #loop: BatchLoop;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #toolGrammars: ToolGrammars;
  readonly #pool: SequencePool<Token[], LlamaContextSequence>;
  /** Limits readings of answers to one at a time, so that they erase the cache of one sequence only. */
  readonly #readings = new Semaphore<object>(1);

  constructor(parts: ChatModelParts) {
    this.#llama = parts.llama;
    this.#model = parts.model;
    this.#context = parts.context;
    this.#contextTokens = parts.context.contextSize;
    this.#loop = parts.loop;
    this.#clock = parts.clock;
    this.#toolGrammars = new ToolGrammars(parts.llama);
    this.#canThink = parts.canThink;
    this.#rendersTools = parts.rendersTools;
    const template = resolveChatWrapper(parts.model);
    this.#template = parts.canThink ? withReasoning(template) : template;
    this.#pool = new SequencePool(
      Array.from({ length: parts.context.totalSequences }, () => parts.context.getSequence()),
    );
  }

  /** @throws {JobFailure} @throws `signal.reason` when aborted. */
  async run(
    { job: request, resume, cacheKey }: HostRun<ChatRequest>,
    { onOutput, onPrompt }: Listener,
    signal: AbortSignal,
  ): Promise<RunResult> {
    const canThink = this.#canThink && !request.isRaw;
    const hasGrammar = request.responseFormat.type !== "text" || request.toolUse !== null;
    if (resume !== null && (hasGrammar || canThink)) {
      throw new JobFailure(
        "cannot_resume",
        "A completion with a response format, tools or reasoning cannot be continued on another Island",
      );
    }
    const soFar = resume?.text ?? "";
    const { toolUse, responseFormat, messages } = request;
    const isRendered = this.#rendersTools && toolUse !== null;
    const template = new ResumableTemplate(this.#templateOf(request), soFar);
    const history = historyOf(messagesWithTools({ messages, toolUse: isRendered ? null : toolUse }));
    // A grammar covers the whole completion and excludes reasoning.
    if (canThink && (hasGrammar || request.reasoningEffort === "none")) {
      history[history.length - 1] = { type: "model", response: [...NO_REASONING] };
    }
    let state = template.generateContextState({ chatHistory: history });
    const prompt = state.contextText.tokenize(this.#model.tokenizer);
    const promptTokens = prompt.length;
    if (promptTokens > this.#contextTokens - RESERVED_TOKENS) throw this.#tooLong(promptTokens);
    if (request.read !== null) {
      if (canThink && !hasGrammar && request.reasoningEffort !== "none")
        throw new JobFailure("invalid_input", "read: an answer after reasoning cannot be read");
      return this.#read(request.read, { prompt, state }, onPrompt, signal);
    }

    let filled = prompt;
    if (soFar !== "") {
      history[history.length - 1] = { type: "model", response: [soFar] };
      state = template.generateContextState({ chatHistory: history });
      filled = state.contextText.tokenize(this.#model.tokenizer);
    }
    const availableTokens = this.#contextTokens - RESERVED_TOKENS + 1 - filled.length;
    const written = resume?.tokens ?? 0;
    const maxTokens = Math.min(request.maxTokens - written, availableTokens);
    const usageOf = (tokens: number): Usage => ({ promptTokens, completionTokens: written + tokens });
    if (maxTokens < 1) return { finishReason: "length", usage: usageOf(0) };

    const grammar = await (toolUse === null
      ? grammarFor(this.#llama, responseFormat)
      : this.#toolGrammars.get(toolUse, responseFormat));
    const sequence = await this.#pool.acquire(filled, cacheKey, signal);
    const unread = filled.length - sequence.compareContextTokens(filled).firstDifferentIndex;
    // A resumed text counts as completion.
    const cachedTokens = Math.min(filled.length - unread, promptTokens);
    const watch = this.#watchPrompt(sequence, promptTokens, unread, onPrompt);
    const { signals } = this.#loop;
    signals.set(idOf(sequence), signal);
    const reading = request.topLogprobs === null ? null : this.#readLogits(sequence, filled, request.topLogprobs);
    const probabilities = reading?.probabilities ?? null;
    try {
      const sampling = samplingOf(request, this.#model, this.#model.tokenize(soFar), randomInt(2 ** 32));
      const endings = grammar === undefined ? endingsOf(template, state, sequence) : null;
      const stops = [...request.stop, ...(endings?.texts ?? [])];
      const text = new Completion(stops, onOutput, signal, probabilities, canThink);
      const completion = toolUse === null ? text : new ToolCompletion(text, responseFormat.type !== "text");
      const generation =
        endings === null
          ? generateWithChat(
              {
                sequence,
                template,
                history,
                options: {
                  ...sampling,
                  ...(grammar && { grammar }),
                  ...(request.reasoningEffort !== null && { budgets: reasoningBudget(request.reasoningEffort) }),
                  maxTokens,
                },
                ...(toolUse !== null && { shownMarks: hiddenMarks(this.#model) }),
                probabilities,
              },
              completion,
              signal,
            )
          : generateText(
              { sequence, prompt: filled, endTokens: endings.tokens, sampling, maxTokens, probabilities },
              completion,
            );
      const finishReason = await completion.end(generation);
      const { stop } = text;
      // This is only a stop sequence of the request, never one of the template.
      const stopSequence = stop !== null && request.stop.includes(stop) ? { stopSequence: stop } : {};
      const usage = { ...usageOf(completion.tokens), cachedTokens };
      return { finishReason, usage, phases: watch.phases(), ...stopSequence };
    } finally {
      await reading?.end();
      watch.end();
      signals.delete(idOf(sequence));
      this.#pool.release(sequence);
    }
  }

  /**
   * Reads an answer instead of generating one. The sequence is empty before and afterwards: cached results may differ
   * from computed ones, and the answer belongs to another run.
   */
  async #read(
    read: ChatRead,
    { prompt, state }: { readonly prompt: readonly Token[]; readonly state: ChatWrapperGeneratedContextState },
    onPrompt: Listener["onPrompt"],
    signal: AbortSignal,
  ): Promise<RunResult> {
    const tokens: AnswerTokens = {
      prompt,
      answer: tokenizeAnswer(this.#model, read.text, prompt),
      ends: read.has_end ? endTokensOf(state, this.#model) : [],
    };
    const total = prompt.length + countTokens(tokens);
    if (total > this.#contextTokens) throw this.#tooLongToRead(total);
    await this.#readings.acquire(tokens, signal);
    try {
      return await this.#readTokens(tokens, read, onPrompt, signal);
    } finally {
      this.#readings.release();
    }
  }

  async #readTokens(
    tokens: AnswerTokens,
    read: ChatRead,
    onPrompt: Listener["onPrompt"],
    signal: AbortSignal,
  ): Promise<RunResult> {
    const total = tokens.prompt.length + countTokens(tokens);
    // No prompt is given, so this is the sequence with the fewest cached tokens.
    const sequence = await this.#pool.acquire([], undefined, signal);
    const id = idOf(sequence);
    const reader = new LogitReader({ llama: this.#llama, model: this.#model, context: this.#context });
    const watch = this.#watchPrompt(sequence, total, total - 1, onPrompt);
    this.#loop.signals.set(id, signal);
    try {
      const output = await readAnswer({ sequence, id, loop: this.#loop, reader, tokens }, read, signal);
      const usage = { promptTokens: total, completionTokens: 0, cachedTokens: 0 };
      return { output, finishReason: "stop", usage, phases: watch.phases() };
    } finally {
      await reader.dispose();
      watch.end();
      this.#loop.signals.delete(id);
      await sequence.clearHistory().finally(() => this.#pool.release(sequence));
    }
  }

  #templateOf({ isRaw, toolUse }: ChatRequest): ChatWrapper {
    if (isRaw) return new RawTemplate(this.#model);
    if (!this.#rendersTools || toolUse === null) return this.#template;
    const template = toolTemplate(this.#model, toolUse.tools);
    return this.#canThink ? withReasoning(template) : template;
  }

  /**
   * Calls `onPrompt` for each batch that contains a part of the prompt, and measures until the batch after them. Tokens
   * in the sequence's cache are added at the end.
   */
  #watchPrompt(
    sequence: LlamaContextSequence,
    total: number,
    unread: number,
    onPrompt: Listener["onPrompt"],
  ): PromptWatch {
    const { onTokens } = this.#loop;
    const id = idOf(sequence);
    const startedMs = this.#clock.monotonicMs();
    let isRead = false;
    let readMs: number | null = null;
    let read = 0;
    onTokens.set(id, (tokens) => {
      if (isRead) {
        readMs = this.#clock.monotonicMs();
        onTokens.delete(id);
        return;
      }
      read += tokens;
      isRead = read >= unread;
      onPrompt({ total, done: isRead ? total : Math.min(read, total) });
    });
    return {
      phases: () => {
        const endedMs = this.#clock.monotonicMs();
        const promptEndMs = readMs ?? endedMs;
        return { promptMs: promptEndMs - startedMs, outputMs: endedMs - promptEndMs };
      },
      end: () => onTokens.delete(id),
    };
  }

  /** Follows the tokens of a run, until `end`. */
  #readLogits(sequence: LlamaContextSequence, prompt: readonly Token[], topCount: number) {
    const reader = new LogitReader({ llama: this.#llama, model: this.#model, context: this.#context });
    const probabilities = new TokenProbabilities(this.#model, reader, topCount, prompt);
    const { followers } = this.#loop;
    const id = idOf(sequence);
    followers.set(id, (batchIndex, sampled) => probabilities.follow(batchIndex, sampled));
    const end = (): Promise<void> => {
      followers.delete(id);
      return reader.dispose();
    };
    return { probabilities, end };
  }

  #tooLongToRead(tokens: number): JobFailure {
    return new JobFailure(
      "context_length_exceeded",
      `The prompt and the answer have ${tokens} tokens, but the context has ${this.#contextTokens}`,
    );
  }

  #tooLong(promptTokens: number): JobFailure {
    const max = this.#contextTokens - RESERVED_TOKENS;
    return new JobFailure(
      "context_length_exceeded",
      `The prompt has ${promptTokens} tokens, but the context of ${this.#contextTokens} tokens allows prompts of at most ${max}`,
    );
  }
}

/** Returns the sequence's id, which is only in a private field (as for the batches of `BatchLoop`). */
function idOf(sequence: LlamaContextSequence): number {
  return (sequence as unknown as { _sequenceId?: number })._sequenceId ?? -1;
}

/**
 * Template that adds no markup: the model continues the text as it is, after the start token if the model uses one.
 * Names of special tokens in the text become these tokens, so that clients can apply their own template.
 */
class RawTemplate extends ChatWrapper {
  readonly wrapperName = "Raw";
  readonly #begin: readonly SpecialToken[];

  constructor({ tokens }: Pick<LlamaModel, "tokens">) {
    super();
    this.#begin = tokens.shouldPrependBosToken ? [new SpecialToken("BOS")] : [];
  }

  override generateContextState({
    chatHistory,
  }: ChatWrapperGenerateContextStateOptions): ChatWrapperGeneratedContextState {
    const [prompt] = chatHistory;
    if (prompt?.type !== "user") throw new Error("A raw prompt must be a single text");
    const text = new SpecialTokensText(prompt.text);
    return { contextText: LlamaText([...this.#begin, text]), stopGenerationTriggers: [] };
  }
}

/** Returns the template of a reasoning model. A template without reasoning marks gets those of most such models. */
function withReasoning(template: ChatWrapper): ChatWrapper {
  const { segments } = template.settings;
  if (segments?.thought !== undefined) return template;
  const thought = {
    prefix: LlamaText(new SpecialTokensText("<think>")),
    suffix: LlamaText(new SpecialTokensText("</think>")),
  };
  return Object.assign(template, { settings: { ...template.settings, segments: { ...segments, thought } } });
}

function reasoningBudget(effort: ReasoningEffort): { readonly thoughtTokens: number } {
  return { thoughtTokens: REASONING_BUDGETS[effort] };
}

/** A completion that may call tools. Text goes to a {@link Completion}; tool calls are delivered separately. */
class ToolCompletion implements Pick<Completion, "tokens" | "isOver" | "take" | "think" | "end"> {
  readonly #completion: Completion;
  readonly #reader: ToolCallReader;
  #tokens = 0;

  /** @param isJson True if the text is JSON, which replaces tool calls and may contain their marks. */
  constructor(completion: Completion, isJson = false) {
    this.#completion = completion;
    const index = (): number => this.#reader.calls - 1;
    this.#reader = new ToolCallReader(
      {
        text: (text, tokens) => completion.take(text, tokens),
        call: (name, tokens) => completion.takeCall({ index: index(), id: newCallId(), name, arguments: "" }, tokens),
        arguments: (text, tokens) => completion.takeCall({ index: index(), arguments: text }, tokens),
      },
      isJson,
    );
  }

  /** Number of tokens, including those of the marks around tool calls. */
  get tokens(): number {
    return this.#tokens;
  }

  get isOver(): boolean {
    return this.#completion.isOver;
  }

  take(text: string, tokens: number): void {
    this.#tokens += tokens;
    this.#reader.push(text, tokens);
  }

  think(text: string, tokens: number): void {
    this.#tokens += tokens;
    this.#completion.think(text, tokens);
  }

  async end(generation: Promise<FinishReason>): Promise<FinishReason> {
    const finishReason = await this.#completion.end(
      generation.then((reason) => {
        this.#reader.end();
        return reason;
      }),
    );
    if (finishReason !== "stop" || this.#reader.calls === 0) return finishReason;
    if (!this.#reader.isInCall) return "tool_calls";
    throw new JobFailure("invalid_output", "The model ended in the middle of a tool call", { retryable: true });
  }
}

function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "")}`;
}

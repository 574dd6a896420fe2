import { isModelItem, type ModelItem, type OutputItem, type Timings, type Usage } from "../../../shared/output.ts";
import type { JobTraits } from "../job-traits.ts";

/**
 * Limits the measured speed to this multiple of the average speed since the assignment. Otherwise an Island could delay
 * its first token and then appear fast.
 */
const MAX_BURST = 8;

/** Measures the speed of one attempt by `Clock.monotonicMs`, never by numbers that the Island reports. */
export class AttemptMeter {
  readonly #assignedMs: number;
  #firstMs: number | null = null;
  #lastMs: number;
  #firstTokens = 0;
  #tokens = 0;

  constructor(assignedMs: number) {
    this.#assignedMs = assignedMs;
    this.#lastMs = assignedMs;
  }

  deliver(nowMs: number, tokens: number): void {
    if (tokens === 0) return;
    if (this.#firstMs === null) {
      this.#firstMs = nowMs;
      this.#firstTokens = tokens;
    }
    this.#lastMs = nowMs;
    this.#tokens += tokens;
  }

  /** Number of delivered output tokens. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Output tokens per second since the first frame; null if the run is too short to measure. */
  get tokensPerSecond(): number | null {
    const later = this.#tokens - this.#firstTokens;
    const streamedMs = this.#lastMs - (this.#firstMs ?? this.#lastMs);
    if (later === 0) return null;
    const maxPerMs = (MAX_BURST * this.#tokens) / Math.max(1, this.#lastMs - this.#assignedMs);
    return Math.min(later / Math.max(1, streamedMs), maxPerMs) * 1_000;
  }

  /** Returns an Island's timings, each limited to the time since the assignment. Only the job's client reads them. */
  bounded({ loadMs, firstOutputMs, runMs, promptMs, outputMs }: Timings, nowMs: number): Timings {
    const elapsedMs = Math.max(0, nowMs - this.#assignedMs);
    const bound = (ms: number): number => Math.min(ms, elapsedMs);
    return {
      loadMs: bound(loadMs),
      firstOutputMs: firstOutputMs === null ? null : bound(firstOutputMs),
      runMs: bound(runMs),
      ...(promptMs === undefined ? {} : { promptMs: bound(promptMs) }),
      ...(outputMs === undefined ? {} : { outputMs: bound(outputMs) }),
    };
  }
}

/** Bytes that a tool call counts besides its name and arguments. */
const CALL_FRAME_BYTES = 64;

/**
 * Limits reported counts of output tokens to the bytes of the delivered text, because a token has at least one byte.
 * Tokens whose text comes later (an incomplete character, a possible stop sequence) count with that text, so an honest
 * Island loses only tokens that the client never sees.
 */
export class DeliveredTokens {
  /** Tokens that may still be counted: one for each byte of delivered text without a token. */
  #allowedTokens = 0;

  /** Returns the items with the accepted token counts: the same array, or a copy if a count was too high. */
  take(items: readonly OutputItem[]): readonly OutputItem[] {
    let accepted: OutputItem[] | null = null;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      if (item === undefined || !isModelItem(item)) continue;
      this.#allowedTokens += bytesOf(item);
      const count = Math.min(item.count, this.#allowedTokens);
      this.#allowedTokens -= count;
      if (count !== item.count) (accepted ??= [...items])[index] = { ...item, count };
    }
    return accepted ?? items;
  }

  /** Returns the reported usage, limited to what the delivered text and the prompt permit. */
  bound(reported: Usage, counted: number, traits: JobTraits | null): Usage {
    const { completionTokens, cachedTokens } = reported;
    const promptTokens = boundPrompt(reported.promptTokens, traits);
    const stopTokens = traits?.stopBytes ?? 0;
    return {
      promptTokens,
      ...(cachedTokens === undefined ? {} : { cachedTokens: Math.min(cachedTokens, promptTokens) }),
      completionTokens: Math.min(completionTokens, counted + this.#allowedTokens + (counted > 0 ? stopTokens : 0)),
    };
  }
}

function bytesOf(item: ModelItem): number {
  if (item.type !== "tool_call") return Buffer.byteLength(item.content);
  const frame = item.name === undefined ? 0 : item.name.length + CALL_FRAME_BYTES;
  return Buffer.byteLength(item.arguments) + frame;
}

/** Limits a reported number of prompt tokens to the maximum of the job; 0 if its input is unknown. */
export function boundPrompt(tokens: number, traits: JobTraits | null): number {
  return Math.min(tokens, traits?.maxPromptTokens ?? 0);
}

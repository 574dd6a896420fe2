import { isModelItem, type ModelItem, type OutputItem, type Timings, type Usage } from "../../../shared/output.ts";
import type { JobTraits } from "../job-traits.ts";

/**
 * Maximum speed of a burst after a long silence, as an Island could hold back its first token: this many times the
 * tokens over the time since the assignment.
 */
const MAX_BURST = 8;

/** Measures one attempt by `Clock.monotonicMs`, never by numbers that the Island reports. */
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

  /** @param tokens Tokens of one output frame. */
  deliver(nowMs: number, tokens: number): void {
    if (tokens === 0) return;
    if (this.#firstMs === null) {
      this.#firstMs = nowMs;
      this.#firstTokens = tokens;
    }
    this.#lastMs = nowMs;
    this.#tokens += tokens;
  }

  /** Null if the run is too short to measure. */
  get tokensPerSecond(): number | null {
    const later = this.#tokens - this.#firstTokens;
    const streamedMs = this.#lastMs - (this.#firstMs ?? this.#lastMs);
    if (later === 0) return null;
    const maxPerMs = (MAX_BURST * this.#tokens) / Math.max(1, this.#lastMs - this.#assignedMs);
    return Math.min(later / Math.max(1, streamedMs), maxPerMs) * 1_000;
  }

  /** Limits an Island's timings, which are only for the job's client, to the elapsed time. */
  bounded({ loadMs, firstOutputMs, runMs }: Timings, nowMs: number): Timings {
    const elapsedMs = Math.max(0, nowMs - this.#assignedMs);
    const bound = (ms: number): number => Math.min(ms, elapsedMs);
    return {
      loadMs: bound(loadMs),
      firstOutputMs: firstOutputMs === null ? null : bound(firstOutputMs),
      runMs: bound(runMs),
    };
  }
}

/** Bytes of a tool call besides its name and arguments. */
const CALL_FRAME_BYTES = 64;

/**
 * Counts output tokens by delivered bytes: the reported count is accepted up to the bytes of the text, as a token has
 * at least one. Tokens whose text comes later (an incomplete character, a possible stop sequence) count with that text,
 * so an honest Island loses only tokens that the client never sees.
 */
export class DeliveredTokens {
  /** Bytes of text for which no token has been counted yet. */
  #allowedTokens = 0;

  /** Returns the items with the accepted counts, usually the same array. */
  take(items: readonly OutputItem[]): readonly OutputItem[] {
    let accepted: OutputItem[] | null = null;
    for (const [index, item] of items.entries()) {
      if (!isModelItem(item)) continue;
      this.#allowedTokens += bytesOf(item);
      const count = Math.min(item.count, this.#allowedTokens);
      this.#allowedTokens -= count;
      if (count !== item.count) (accepted ??= [...items])[index] = { ...item, count };
    }
    return accepted ?? items;
  }

  /** Limits the reported usage to what text and prompt permit. */
  bound({ promptTokens, completionTokens }: Usage, counted: number, traits: JobTraits | null): Usage {
    const stopTokens = traits?.stopBytes ?? 0;
    return {
      promptTokens: boundPrompt(promptTokens, traits),
      completionTokens: Math.min(completionTokens, counted + this.#allowedTokens + (counted > 0 ? stopTokens : 0)),
    };
  }
}

function bytesOf(item: ModelItem): number {
  if (item.type !== "tool_call") return Buffer.byteLength(item.content);
  const frame = item.name === undefined ? 0 : item.name.length + CALL_FRAME_BYTES;
  return Buffer.byteLength(item.arguments) + frame;
}

export function boundPrompt(tokens: number, traits: JobTraits | null): number {
  return Math.min(tokens, traits?.maxPromptTokens ?? 0);
}

import { isModelItem, type ModelItem, type OutputItem, type Timings, type Usage } from "../../../shared/output.ts";
import type { JobTraits } from "../job-traits.ts";

/**
 * A burst after a long silence is no speed: an Island could hold back its first token and send the rest at once. The speed is at most
 * this many times the tokens by the time since the job was assigned, which also has the load and the prompt in it.
 */
const MAX_BURST = 8;

/** Measures one attempt on the coordinator's clock. Times are those of `Clock.monotonicMs`. An Island's own figures are never used. */
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

  /** `tokens`: those of one output frame. */
  deliver(nowMs: number, tokens: number): void {
    if (tokens === 0) return;
    if (this.#firstMs === null) {
      this.#firstMs = nowMs;
      this.#firstTokens = tokens;
    }
    this.#lastMs = nowMs;
    this.#tokens += tokens;
  }

  /** Tokens a second, from what was delivered and on our clock; null for a run whose speed does not show. */
  get tokensPerSecond(): number | null {
    const later = this.#tokens - this.#firstTokens;
    const streamedMs = this.#lastMs - (this.#firstMs ?? this.#lastMs);
    if (later === 0) return null;
    const most = (MAX_BURST * this.#tokens) / Math.max(1, this.#lastMs - this.#assignedMs);
    return Math.min(later / Math.max(1, streamedMs), most) * 1_000;
  }

  /** An Island's timings, none longer than the time that has passed. They are for the job's own client. */
  bounded({ loadMs, firstOutputMs, runMs }: Timings, nowMs: number): Timings {
    const passedMs = Math.max(0, nowMs - this.#assignedMs);
    const bound = (ms: number): number => Math.min(ms, passedMs);
    return {
      loadMs: bound(loadMs),
      firstOutputMs: firstOutputMs === null ? null : bound(firstOutputMs),
      runMs: bound(runMs),
    };
  }
}

/** Of a call of a tool beside its name and arguments: the marks around it, and the names of its two fields. */
const CALL_FRAME_BYTES = 64;

/**
 * Counts the tokens of a job's output by what was delivered. An Island says how many tokens are behind each piece of text; it is
 * believed up to the text: a token has at least one byte. Tokens whose text comes later (of an incomplete character, of what may
 * become a stop sequence) are counted with that text, so an honest Island loses only tokens that the client never sees.
 */
export class DeliveredTokens {
  /** Bytes of text that no token was counted for yet. */
  #allowedTokens = 0;

  /** The same items, with the counts that are believed: mostly the very array. */
  take(items: readonly OutputItem[]): readonly OutputItem[] {
    let believed: OutputItem[] | null = null;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index] as OutputItem;
      if (!isModelItem(item)) continue;
      this.#allowedTokens += bytesOf(item);
      const count = Math.min(item.count, this.#allowedTokens);
      this.#allowedTokens -= count;
      if (count !== item.count) (believed ??= [...items])[index] = { ...item, count };
    }
    return believed ?? items;
  }

  /** What a finished run used: at most what the text and the prompt can have been. */
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

/** At most the tokens that the prompt can have. */
export function boundPrompt(tokens: number, traits: JobTraits | null): number {
  return Math.min(tokens, traits?.maxPromptTokens ?? 0);
}

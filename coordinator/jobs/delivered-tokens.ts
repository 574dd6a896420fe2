import { isModelItem, type ModelItem, type OutputItem, type Usage } from "../../shared/output.ts";
import type { JobTraits } from "./job-traits.ts";

/** Of a call of a tool beside its name and arguments: the marks around it, and the names of its two fields. */
const CALL_FRAME_BYTES = 64;

/**
 * Counts the tokens of a job's output by what was delivered. An Island says how many tokens are behind each piece of text; it is
 * believed up to the text: a token has at least one byte. Tokens whose text comes later (of an incomplete character, of what may
 * become a stop sequence) are counted with that text, so an honest Island loses only tokens that the client never sees.
 */
export class DeliveredTokens {
  /** Bytes of text that no token was counted for yet. */
  #roomTokens = 0;

  /** The same items, with the counts that are believed: mostly the very array. */
  take(items: readonly OutputItem[]): readonly OutputItem[] {
    let believed: OutputItem[] | null = null;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index] as OutputItem;
      if (!isModelItem(item)) continue;
      this.#roomTokens += bytesOf(item);
      const count = Math.min(item.count, this.#roomTokens);
      this.#roomTokens -= count;
      if (count !== item.count) (believed ??= [...items])[index] = { ...item, count };
    }
    return believed ?? items;
  }

  /** What a finished run used: at most what the text and the prompt can have been. */
  bound({ promptTokens, completionTokens }: Usage, counted: number, traits: JobTraits | null): Usage {
    const stopTokens = traits?.stopBytes ?? 0;
    return {
      promptTokens: boundPrompt(promptTokens, traits),
      completionTokens: Math.min(completionTokens, counted + this.#roomTokens + (counted > 0 ? stopTokens : 0)),
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

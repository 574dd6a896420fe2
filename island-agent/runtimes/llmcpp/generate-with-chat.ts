import {
  type ChatHistoryItem,
  type ChatWrapper,
  LlamaChat,
  type LlamaContextSequence,
  type LLamaChatGenerateResponseOptions,
  type Token,
} from "node-llama-cpp";
import type { FinishReason } from "../../../shared/output.ts";
import type { Completion } from "./completion.ts";
import type { TokenProbabilities } from "./token-probabilities.ts";

interface ChatGeneration {
  readonly sequence: LlamaContextSequence;
  readonly template: ChatWrapper;
  readonly history: ChatHistoryItem[];
  readonly options: LLamaChatGenerateResponseOptions;
  /** Control tokens that are rendered as text. Control tokens normally have no text. */
  readonly shownMarks?: ReadonlySet<Token>;
  readonly probabilities?: Pick<TokenProbabilities, "keep"> | null;
}

/** Generates a completion with LlamaChat, which supports grammars, reasoning and all templates. */
export async function generateWithChat(
  { sequence, template, history, options, shownMarks, probabilities }: ChatGeneration,
  completion: Pick<Completion, "isOver" | "take" | "think">,
  signal: AbortSignal,
): Promise<FinishReason> {
  const halt = new AbortController();
  const hasShownMark = (tokens: readonly Token[]): boolean => tokens.some((token) => shownMarks?.has(token) === true);
  const chat = new LlamaChat({ contextSequence: sequence, chatWrapper: template });
  try {
    const { metadata } = await chat.generateResponse(history, {
      ...options,
      contextShift: { strategy: neverShift },
      signal: AbortSignal.any([signal, halt.signal]),
      stopOnAbortSignal: true,
      onResponseChunk: ({ type, text, tokens }) => {
        probabilities?.keep(tokens);
        if (type === "segment") completion.think(text, tokens.length);
        else completion.take(hasShownMark(tokens) ? sequence.model.detokenize(tokens, true) : text, tokens.length);
        if (completion.isOver) halt.abort();
      },
    });
    return metadata.stopReason === "maxTokens" ? "length" : "stop";
  } catch (error) {
    // If the first token contains a stop sequence, the library has no response to resolve with and rejects.
    if (completion.isOver && !signal.aborted) return "stop";
    throw error;
  } finally {
    chat.dispose({ disposeSequence: false });
  }
}

/** Throws, because sizes are checked before and shifting the context would silently drop a part of the conversation. */
function neverShift(): never {
  throw new Error("The context is full although its size was checked");
}

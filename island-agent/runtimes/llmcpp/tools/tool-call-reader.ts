import { CALL_BEGIN, CALL_END } from "./tool-text.ts";

/** Receives the parts of a completion, each with its number of tokens, including preceding marks. */
export interface CompletionParts {
  text(text: string, tokens: number): void;
  call(name: string, tokens: number): void;
  /** Receives JSON text to append to the last call's arguments. */
  arguments(text: string, tokens: number): void;
}

/** Beginning of a call's JSON, up to its arguments, which are an object. */
const CALL_HEAD = /^\s*\{\s*"name"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*(?=\{)/;

/**
 * Splits a completion while it is generated into its text and the tool calls after it. The completion follows the
 * grammar of `ToolGrammars`.
 */
export class ToolCallReader {
  readonly #parts: CompletionParts;
  /** Whether the completion is either text or calls. */
  readonly #isEither: boolean;
  #hasText = false;
  #at: "text" | "head" | "arguments" | "tail" = "text";
  /** Text that has not been delivered yet. */
  #held = "";
  #tokens = 0;
  #calls = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @param isEither Whether the completion is either text or calls: marks after other text are then text. */
  constructor(parts: CompletionParts, isEither = false) {
    this.#parts = parts;
    this.#isEither = isEither;
  }

  get calls(): number {
    return this.#calls;
  }

  get isInCall(): boolean {
    return this.#at !== "text";
  }

  push(text: string, tokens: number): void {
    this.#held += text;
    this.#tokens += tokens;
    while (this.#step());
  }

  /** Ends the completion and delivers text that was held back as a possible start of a call. */
  end(): void {
    if (this.#at === "text" && this.#calls === 0) this.#deliver("text", this.#held.length);
  }

  /** Returns true if the held text may contain another part. */
  #step(): boolean {
    switch (this.#at) {
      case "text":
        return this.#readText();
      case "head":
        return this.#readHead();
      case "arguments":
        return this.#readArguments();
      case "tail":
        return this.#skipTo(CALL_END, "text");
      default:
        return this.#at satisfies never;
    }
  }

  #readText(): boolean {
    // Calls are separated only by a line break.
    if (this.#calls > 0) return this.#skipTo(CALL_BEGIN, "head");
    const start = this.#held.trimStart();
    this.#hasText ||= !start.startsWith(CALL_BEGIN) && !CALL_BEGIN.startsWith(start);
    if (this.#isEither && this.#hasText) {
      this.#deliver("text", this.#held.length);
      return false;
    }
    const begin = this.#held.indexOf(CALL_BEGIN);
    this.#deliver("text", begin === -1 ? this.#held.length - overlap(this.#held) : begin);
    return begin !== -1 && this.#skipTo(CALL_BEGIN, "head");
  }

  #readHead(): boolean {
    const head = CALL_HEAD.exec(this.#held);
    if (head === null) return false;
    this.#held = this.#held.slice(head[0].length);
    this.#calls += 1;
    this.#parts.call(head[1] ?? "", this.#takeTokens());
    this.#at = "arguments";
    return true;
  }

  #readArguments(): boolean {
    let length = 0;
    for (const char of this.#held) {
      length += char.length;
      this.#trackDepth(char);
      if (this.#depth > 0) continue;
      this.#deliver("arguments", length);
      this.#at = "tail";
      return true;
    }
    this.#deliver("arguments", length);
    return false;
  }

  #trackDepth(char: string): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (char === "\\") this.#isEscaped = true;
      else if (char === '"') this.#isInString = false;
    } else if (char === '"') this.#isInString = true;
    else if (char === "{" || char === "[") this.#depth += 1;
    else if (char === "}" || char === "]") this.#depth -= 1;
  }

  #skipTo(mark: string, next: "text" | "head"): boolean {
    const at = this.#held.indexOf(mark);
    if (at === -1) return false;
    this.#held = this.#held.slice(at + mark.length);
    this.#at = next;
    return true;
  }

  #deliver(what: "text" | "arguments", length: number): void {
    if (length === 0) return;
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#parts[what](text, this.#takeTokens());
  }

  #takeTokens(): number {
    const tokens = this.#tokens;
    this.#tokens = 0;
    return tokens;
  }
}

/** Returns the length of the longest end of `text` that may start a call. */
function overlap(text: string): number {
  for (let length = Math.min(text.length, CALL_BEGIN.length - 1); length > 0; length -= 1) {
    if (text.endsWith(CALL_BEGIN.slice(0, length))) return length;
  }
  return 0;
}

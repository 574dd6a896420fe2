import { randomUUID } from "node:crypto";
import { JobFailure } from "../../../../shared/errors.ts";
import type { FinishReason } from "../../../../shared/output.ts";
import type { Answer } from "../answer.ts";
import { ToolCallReader } from "./tool-call-reader.ts";

/** An answer that may call tools, while the model writes it: its text goes to an {@link Answer} as any other, its calls beside that. */
export class ToolAnswer implements Pick<Answer, "tokens" | "isOver" | "take" | "think" | "end"> {
  readonly #answer: Answer;
  readonly #reader: ToolCallReader;
  #tokens = 0;

  /** @param isJson Its text is JSON, which comes in place of calls and may have their marks in it. */
  constructor(answer: Answer, isJson = false) {
    this.#answer = answer;
    const index = (): number => this.#reader.calls - 1;
    this.#reader = new ToolCallReader(
      {
        text: (text, tokens) => answer.take(text, tokens),
        call: (name, tokens) => answer.takeCall({ index: index(), id: newCallId(), name, arguments: "" }, tokens),
        arguments: (text, tokens) => answer.takeCall({ index: index(), arguments: text }, tokens),
      },
      isJson,
    );
  }

  /** Those of the marks around calls count too. */
  get tokens(): number {
    return this.#tokens;
  }

  get isOver(): boolean {
    return this.#answer.isOver;
  }

  take(text: string, tokens: number): void {
    this.#tokens += tokens;
    this.#reader.push(text, tokens);
  }

  think(text: string, tokens: number): void {
    this.#tokens += tokens;
    this.#answer.think(text, tokens);
  }

  async end(generation: Promise<FinishReason>): Promise<FinishReason> {
    const finishReason = await this.#answer.end(
      generation.then((reason) => {
        this.#reader.end();
        return reason;
      }),
    );
    if (finishReason !== "stop" || this.#reader.calls === 0) return finishReason;
    if (!this.#reader.isInCall) return "tool_calls";
    throw new JobFailure("invalid_output", "The model ended in the midst of a call of a tool", { retryable: true });
  }
}

function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "")}`;
}

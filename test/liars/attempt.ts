import type { JobErrorCode } from "../../shared/errors.ts";
import type { JsonValue } from "../../shared/json-value.ts";
import type { OutputItem, Usage } from "../../shared/output.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame } from "../support/network/attempt-frames.ts";
import { type Result, resultFor } from "./tasks.ts";

/** One attempt of a job at a scripted Island. */
export class Attempt {
  readonly jobId: string;
  readonly attempt: number;
  readonly result: Result;
  /** Text of earlier attempts, which the client already received. */
  readonly resumed: string;
  readonly sent: FromIsland[] = [];
  readonly #send: (...frames: FromIsland[]) => void;
  readonly #over = new AbortController();
  #seq = 0;
  #isCancelled = false;

  constructor(assign: Assign, send: (...frames: FromIsland[]) => void) {
    this.jobId = assign.jobId;
    this.attempt = assign.attempt;
    this.result = resultFor(assign.cargo.slug, assign.input);
    this.resumed = assign.resume?.text ?? "";
    this.#send = send;
  }

  /** Whether the coordinator has cancelled the attempt. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Whether more frames are useless, because the session ended or the attempt was cancelled. */
  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Remaining pieces of the correct text. Empty for a value. */
  get pieces(): readonly string[] {
    if (this.result.kind === "value") return [];
    const { pieces } = this.result;
    let length = 0;
    const first = pieces.findIndex((piece) => {
      if (length >= this.resumed.length) return true;
      length += piece.length;
      return false;
    });
    return first === -1 ? [] : pieces.slice(first);
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#over.abort();
  }

  end(): void {
    this.#over.abort();
  }

  /** Resolves after the time, or when the attempt is over. */
  pause(ms: number): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#over.signal.removeEventListener("abort", settle);
        resolve();
      };
      const timer = setTimeout(settle, ms);
      this.#over.signal.addEventListener("abort", settle);
    });
  }

  accept(): void {
    this.#say({ type: "accepted", jobId: this.jobId, attempt: this.attempt });
  }

  begin(): void {
    this.#say(...beginFrames(this));
  }

  readPrompt(done: number, total: number): void {
    this.#say({ type: "started", jobId: this.jobId, attempt: this.attempt, prompt: { done, total } });
  }

  items(...items: OutputItem[]): void {
    this.#say({ type: "output", jobId: this.jobId, attempt: this.attempt, seq: this.#next(), items });
  }

  text(content: string, count = 1): void {
    this.items({ type: "token", content, count });
  }

  finish(more: Partial<Usage> & { output?: JsonValue } = {}): void {
    this.#say(finishedFrame(this, this.#next(), more));
  }

  fail(code: JobErrorCode, message: string, retryable: boolean): void {
    const { jobId, attempt } = this;
    this.#say({ type: "failed", jobId, attempt, seq: this.#next(), code, message, retryable });
  }

  refuse(code: JobErrorCode, message: string): void {
    this.#say({ type: "refused", jobId: this.jobId, attempt: this.attempt, code, message });
  }

  confirmCancel(): void {
    this.#say({ type: "cancelled", jobId: this.jobId, attempt: this.attempt, seq: this.#next() });
  }

  #next(): number {
    this.#seq += 1;
    return this.#seq;
  }

  #say(...frames: FromIsland[]): void {
    this.sent.push(...frames);
    if (this.sent.length > 50) this.sent.splice(0, this.sent.length - 50);
    this.#send(...frames);
  }
}

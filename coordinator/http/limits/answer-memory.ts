import type { ServerResponse } from "node:http";
import { OverloadedError } from "../../../shared/errors.ts";

/** Bytes of large answers that are in memory until their clients have read them. */
export class AnswerMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts an answer until `response` closes. One is always taken, however large. @throws {OverloadedError} */
  hold(bytes: number, response: ServerResponse): void {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) throw new OverloadedError();
    // The client has left already, so "close" never comes.
    if (response.destroyed) return;
    this.#bytes += bytes;
    response.once("close", () => {
      this.#bytes -= bytes;
    });
  }
}
